/** What to do first, where nothing has been sent yet. */
export function FirstSteps() {
    const server = new URL(document.baseURI).href.replace(/\/$/, "");
    return (
        <section aria-labelledby="first">
            <h2 id="first">Nothing has arrived yet</h2>
            <ol className="steps">
                <li>
                    <strong>Load the demo</strong>, a pipeline from PostgreSQL over Kafka and Flink to a dashboard whose
                    number is wrong:
                    <pre>lineage-bridge demo load --url {server}</pre>
                </li>
                <li>
                    <strong>Point a producer here.</strong> Spark, Airflow, dbt, Flink, Debezium and every other
                    OpenLineage producer need this one variable:
                    <pre>OPENLINEAGE_URL={server}</pre>
                </li>
                <li>
                    <strong>Observe a system from outside</strong>, without installing anything in it:
                    <pre>
                        lineage-bridge source add broker kafka bootstrap_servers=localhost:9092
                        {"\n"}lineage-bridge source add cdc connect url=http://localhost:8083
                    </pre>
                </li>
            </ol>
            <p className="hint">This page shows what arrives by itself.</p>
        </section>
    );
}
