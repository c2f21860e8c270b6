import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.apache.calcite.rel.RelNode;
import org.apache.calcite.rel.RelShuttleImpl;
import org.apache.calcite.rel.core.TableFunctionScan;
import org.apache.calcite.rel.logical.LogicalCorrelate;
import org.apache.calcite.rel.logical.LogicalJoin;
import org.apache.calcite.rel.logical.LogicalProject;
import org.apache.calcite.rel.logical.LogicalSnapshot;
import org.apache.calcite.rel.metadata.RelColumnOrigin;
import org.apache.calcite.rel.metadata.RelMetadataQuery;
import org.apache.calcite.rex.RexCall;
import org.apache.calcite.rex.RexLiteral;
import org.apache.calcite.rex.RexNode;
import org.apache.calcite.sql.SqlKind;
import org.apache.flink.table.api.EnvironmentSettings;
import org.apache.flink.table.api.TableEnvironment;
import org.apache.flink.table.api.internal.TableEnvironmentInternal;
import org.apache.flink.table.catalog.Column;
import org.apache.flink.table.operations.CreateTableASOperation;
import org.apache.flink.table.operations.Operation;
import org.apache.flink.table.operations.QueryOperation;
import org.apache.flink.table.operations.ReplaceTableAsOperation;
import org.apache.flink.table.operations.SinkModifyOperation;
import org.apache.flink.table.operations.StatementSetOperation;
import org.apache.flink.table.operations.UseOperation;
import org.apache.flink.table.operations.ddl.AlterOperation;
import org.apache.flink.table.operations.ddl.CreateCatalogOperation;
import org.apache.flink.table.operations.ddl.CreateOperation;
import org.apache.flink.table.operations.ddl.DropOperation;
import org.apache.flink.table.planner.operations.PlannerQueryOperation;
import org.apache.flink.table.planner.plan.nodes.calcite.LogicalWatermarkAssigner;

/**
 * Asks Flink's planner where the columns that a script writes come from: {@code Oracle FOLDER}.
 *
 * <p>Each file of the folder is a script, its statements parted by the character NUL. Lines of output have fields parted by
 * tabs: {@code file, flow, table read, column read, table written, column written}, tables in full with NUL between the parts;
 * or, for a script that cannot be planned to its end, {@code file, unplanned, reason}.
 */
public final class Oracle {
    private final TableEnvironmentInternal environment =
            (TableEnvironmentInternal) TableEnvironment.create(EnvironmentSettings.inStreamingMode());
    private final Set<String> flows = new TreeSet<>();

    private Oracle() {
        environment.registerCatalog("main", new AnyConnector.AnyCatalog("main"));
        environment.useCatalog("main");
    }

    public static void main(String[] arguments) throws IOException {
        List<Path> files;
        try (Stream<Path> found = Files.list(Path.of(arguments[0]))) {
            files = found.sorted().toList();
        }
        for (Path file : files) {
            Oracle oracle = new Oracle();
            String name = file.getFileName().toString();
            try {
                for (String statement : Files.readString(file).split("\0")) {
                    oracle.take(statement);
                }
                oracle.flows.forEach(flow -> System.out.println(name + "\tflow\t" + flow));
                System.out.println(name + "\tplanned");
            } catch (OutOfMemoryError e) {
                throw e;
            } catch (RuntimeException | Error e) { // The planner throws errors of Scala's and Calcite's own, and runs out of stack.
                System.out.println(name + "\tunplanned\t" + reason(e));
            }
        }
    }

    /** The first line of the innermost message. */
    private static String reason(Throwable error) {
        while (error.getCause() != null) {
            error = error.getCause();
        }
        String message = error.getMessage() == null ? error.getClass().getSimpleName() : error.getMessage();
        return message.strip().lines().findFirst().orElse("").replace('\t', ' ');
    }

    private void take(String statement) {
        for (Operation operation : environment.getParser().parse(statement)) {
            take(operation);
        }
    }

    private void take(Operation operation) {
        if (operation instanceof CreateCatalogOperation created) {
            String name = created.getCatalogName();
            if (environment.getCatalog(name).isEmpty()) {
                environment.registerCatalog(name, new AnyConnector.AnyCatalog(name));
            }
        } else if (operation instanceof StatementSetOperation set) {
            set.getOperations().forEach(this::take);
        } else if (operation instanceof CreateTableASOperation create) {
            environment.executeInternal(create.getCreateTableOperation());
            write(create.toSinkModifyOperation(environment.getCatalogManager()));
        } else if (operation instanceof ReplaceTableAsOperation replace) {
            environment.executeInternal(replace.getCreateTableOperation());
            write(replace.toSinkModifyOperation(environment.getCatalogManager()));
        } else if (operation instanceof SinkModifyOperation write) {
            write(write);
        } else if (operation.getClass().getSimpleName().contains("MaterializedTable")) {
            throw new IllegalStateException("a materialized table needs a workflow scheduler");
        } else if (operation instanceof CreateOperation
                || operation instanceof AlterOperation
                || operation instanceof DropOperation
                || operation instanceof UseOperation) {
            environment.executeInternal(operation);
        }
    }

    private void write(SinkModifyOperation write) {
        if (write.isUpdate() || write.isDelete()) {
            throw new IllegalStateException("rows changed in place are planned by their connector");
        }
        QueryOperation child = write.getChild();
        if (!(child instanceof PlannerQueryOperation query)) {
            return;
        }
        List<String> target = write.getContextResolvedTable().getResolvedSchema().getColumns().stream()
                .filter(Column::isPersisted)
                .map(Column::getName)
                .toList();
        String sink = String.join("\0", write.getContextResolvedTable().getIdentifier().toList());
        RelNode plan = query.getCalciteTree().accept(new Plain());
        refuseUnknownOrigins(plan);
        RelMetadataQuery metadata = plan.getCluster().getMetadataQuery();
        for (int i = 0; i < target.size(); i++) {
            for (RelColumnOrigin origin : metadata.getColumnOrigins(plan, i)) {
                // Behind the table's name may stand which metadata it is read with.
                String source = String.join("\0", origin.getOriginTable().getQualifiedName().subList(0, 3));
                String column = origin.getOriginTable().getRowType().getFieldNames().get(origin.getOriginColumnOrdinal());
                flows.add(String.join("\t", source, column, sink, target.get(i)));
            }
        }
    }

    /** An aggregate over columns of unknown origin would be told to have none, so every step of the plan is asked. */
    private static void refuseUnknownOrigins(RelNode plan) {
        RelMetadataQuery metadata = plan.getCluster().getMetadataQuery();
        for (int i = 0; i < plan.getRowType().getFieldCount(); i++) {
            if (metadata.getColumnOrigins(plan, i) == null) {
                throw new IllegalStateException("the planner tells no origins behind " + deepestUnknown(plan).getRelTypeName());
            }
        }
        plan.getInputs().forEach(Oracle::refuseUnknownOrigins);
    }

    private static RelNode deepestUnknown(RelNode plan) {
        RelMetadataQuery metadata = plan.getCluster().getMetadataQuery();
        for (RelNode input : plan.getInputs()) {
            for (int i = 0; i < input.getRowType().getFieldCount(); i++) {
                if (metadata.getColumnOrigins(input, i) == null) {
                    return deepestUnknown(input);
                }
            }
        }
        return plan;
    }

    /** Puts plain steps in the place of streaming ones that the planner knows no origins behind, where columns keep theirs. */
    private static final class Plain extends RelShuttleImpl {
        @Override
        public RelNode visit(RelNode node) {
            if (node instanceof LogicalWatermarkAssigner || node instanceof LogicalSnapshot) {
                return node.getInput(0).accept(this);
            }
            return node instanceof TableFunctionScan function ? visitWindow(function) : super.visit(node);
        }

        /** A correlation says which rows meet, as a join does. */
        @Override
        public RelNode visit(LogicalCorrelate node) {
            RelNode left = node.getLeft().accept(this);
            RelNode right = node.getRight().accept(this);
            RexNode all = node.getCluster().getRexBuilder().makeLiteral(true);
            return LogicalJoin.create(left, right, List.of(), all, Set.of(), node.getJoinType());
        }

        /** A window gives the columns of its table, and its own, which come from the column of time it describes. */
        private RelNode visitWindow(TableFunctionScan node) {
            Optional<RexNode> time = node.getCall() instanceof RexCall call
                    ? call.getOperands().stream().filter(part -> part.isA(SqlKind.DESCRIPTOR)).findFirst()
                    : Optional.empty();
            if (node.getInputs().size() != 1 || time.isEmpty()) {
                return super.visit((RelNode) node);
            }
            RelNode table = node.getInput(0).accept(this);
            String described = RexLiteral.stringValue(((RexCall) time.get()).getOperands().get(0));
            int place = table.getRowType().getFieldNames().indexOf(described);
            List<RexNode> columns = new ArrayList<>(node.getCluster().getRexBuilder().identityProjects(table.getRowType()));
            while (columns.size() < node.getRowType().getFieldCount()) {
                columns.add(columns.get(place));
            }
            return LogicalProject.create(table, List.of(), columns, node.getRowType().getFieldNames(), Set.of());
        }
    }
}
