#!/bin/sh
# Runs a command of LineageBridge; or, with the argument that Spark gives to containers on Kubernetes, one of its executors.
set -eu

if [ "${1:-}" != executor ]; then
    exec lineage-bridge "$@"
fi

# Spark describes an executor by variables, and passes Java's options in one each.
set --
number=0
while eval "[ -n \"\${SPARK_JAVA_OPT_$number+set}\" ]"; do
    eval "set -- \"\$@\" \"\$SPARK_JAVA_OPT_$number\""
    number=$((number + 1))
done
jars=$(python -c 'import importlib.util; print(importlib.util.find_spec("pyspark").submodule_search_locations[0])')/jars
cd "${TMPDIR:-/tmp}"
exec java "$@" "-Xms$SPARK_EXECUTOR_MEMORY" "-Xmx$SPARK_EXECUTOR_MEMORY" \
    -cp "${SPARK_CONF_DIR:+$SPARK_CONF_DIR:}$jars/*" \
    org.apache.spark.scheduler.cluster.k8s.KubernetesExecutorBackend \
    --driver-url "$SPARK_DRIVER_URL" \
    --executor-id "$SPARK_EXECUTOR_ID" \
    --cores "$SPARK_EXECUTOR_CORES" \
    --app-id "$SPARK_APPLICATION_ID" \
    --hostname "$SPARK_EXECUTOR_POD_IP" \
    --resourceProfileId "$SPARK_RESOURCE_PROFILE_ID" \
    --podName "$SPARK_EXECUTOR_POD_NAME"
