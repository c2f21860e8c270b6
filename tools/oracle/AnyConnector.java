import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.apache.flink.configuration.ConfigOption;
import org.apache.flink.table.catalog.Column.MetadataColumn;
import org.apache.flink.table.catalog.GenericInMemoryCatalog;
import org.apache.flink.table.catalog.ResolvedSchema;
import org.apache.flink.table.connector.ChangelogMode;
import org.apache.flink.table.connector.source.DynamicTableSource;
import org.apache.flink.table.connector.source.LookupTableSource;
import org.apache.flink.table.connector.source.ScanTableSource;
import org.apache.flink.table.connector.source.abilities.SupportsReadingMetadata;
import org.apache.flink.table.factories.DynamicTableSourceFactory;
import org.apache.flink.table.factories.Factory;
import org.apache.flink.table.types.DataType;

/** Stands for every connector: its tables can be planned, with whatever metadata they declare, and never run. */
final class AnyConnector implements DynamicTableSourceFactory {
    /** A catalog in memory whose tables are all of this connector, whatever their options say. */
    static final class AnyCatalog extends GenericInMemoryCatalog {
        AnyCatalog(String name) {
            super(name);
        }

        @Override
        public Optional<Factory> getFactory() {
            return Optional.of(new AnyConnector());
        }
    }

    @Override
    public String factoryIdentifier() {
        return "any";
    }

    @Override
    public Set<ConfigOption<?>> requiredOptions() {
        return Set.of();
    }

    @Override
    public Set<ConfigOption<?>> optionalOptions() {
        return Set.of();
    }

    @Override
    public DynamicTableSource createDynamicTableSource(Context context) {
        return new AnySource(context.getCatalogTable().getResolvedSchema());
    }

    private record AnySource(ResolvedSchema schema) implements ScanTableSource, LookupTableSource, SupportsReadingMetadata {
        @Override
        public ChangelogMode getChangelogMode() {
            return ChangelogMode.insertOnly();
        }

        @Override
        public ScanRuntimeProvider getScanRuntimeProvider(ScanContext context) {
            return () -> false;
        }

        @Override
        public LookupRuntimeProvider getLookupRuntimeProvider(LookupContext context) {
            return new LookupRuntimeProvider() {};
        }

        @Override
        public Map<String, DataType> listReadableMetadata() {
            Map<String, DataType> readable = new HashMap<>();
            schema.getColumns().forEach(column -> {
                if (column instanceof MetadataColumn metadata) {
                    readable.put(metadata.getMetadataKey().orElse(metadata.getName()), metadata.getDataType());
                }
            });
            return readable;
        }

        @Override
        public void applyReadableMetadata(List<String> keys, DataType type) {}

        @Override
        public DynamicTableSource copy() {
            return this;
        }

        @Override
        public String asSummaryString() {
            return "any";
        }
    }
}
