"""Datasets behind JDBC addresses: the forms of the drivers' documentation and of OpenLineage's tests. No option reaches a name."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lineage_bridge.openlineage.jdbc.datasets import jdbc_dataset
from lineage_bridge.openlineage.jdbc.drivers import read_jdbc

TNS = (
    "(DESCRIPTION=(ADDRESS_LIST= (LOAD_BALANCE=ON) (ADDRESS=(PROTOCOL=tcp)(HOST=ora1)(PORT=1532))"
    " (ADDRESS=(PROTOCOL=TCP)(HOST=ora2)(PORT=1522)))"
)


@pytest.mark.parametrize(
    ("url", "namespace", "database"),
    [
        # PostgreSQL and its relatives
        ("jdbc:postgresql://db.example.com", "postgres://db.example.com:5432", ""),
        ("jdbc:postgresql://192.0.2.7:6000/shop", "postgres://192.0.2.7:6000", "shop"),
        ("jdbc:postgresql://[2001:db8::7]/shop", "postgres://[2001:db8::7]:5432", "shop"),
        ("jdbc:postgresql://ann:p%40ss@db/shop?ssl=true", "postgres://db:5432", "shop"),
        ("jdbc:postgresql://db/shop?user=bob@example.com", "postgres://db:5432", "shop"),
        ("jdbc:postgresql://ann:p/w@db/shop", "postgres://db:5432", "shop"),
        ("jdbc:postgresql://db1,db2:6000/shop?targetServerType=primary", "postgres://db1:5432,db2:6000", "shop"),
        ("jdbc:postgresql:shop", "postgres://localhost:5432", "shop"),
        ("jdbc:postgresql:///shop", "postgres://localhost:5432", "shop"),
        ("jdbc:aws-wrapper:postgresql://db/shop", "postgres://db:5432", "shop"),
        ("jdbc:yugabytedb://yb:5433/shop?load-balance=true", "yugabytedb://yb:5433", "shop"),
        ("jdbc:crate://c1,c2/", "crate://c1:5432,c2:5432", ""),
        # MySQL and its relatives
        ("jdbc:mysql://db/shop?user=ann&password=x", "mysql://db:3306", "shop"),
        ("jdbc:mysql:loadbalance://db1:3307,db2/shop", "mysql://db1:3307,db2:3306", "shop"),
        ("jdbc:mysql://ann:p@db1:3307,ann:p@db2:3308", "mysql://db1:3307,db2:3308", ""),
        ("jdbc:mysql://address=(host=db1)(port=3307)(user=ann)(password=x),address=(host=db2)/shop", "mysql://db1:3307,db2:3306", "shop"),
        ("jdbc:mysql://(host=db1,port=3307,user=ann,password=x),(host=db2,port=3308)/shop", "mysql://db1:3307,db2:3308", "shop"),
        ("jdbc:mariadb:replication://db1,db2/shop", "mysql://db1:3306,db2:3306", "shop"),
        ("jdbc-secretsmanager:mysql://db/shop", "mysql://db:3306", "shop"),
        ("jdbc:oceanbase:hamode://ob", "oceanbase://ob:2881", ""),
        # Oracle
        ("jdbc:oracle:thin:@//ora", "oracle://ora:1521", ""),
        ("jdbc:oracle:thin:@ora:1522:XE", "oracle://ora:1522", "XE"),
        ("jdbc:oracle:thin:@ora:XE", "oracle://ora:1521", "XE"),
        ("jdbc:oracle:thin:@//ora:1522/shop.example.com", "oracle://ora:1522", "shop.example.com"),
        ("jdbc:oracle:thin:@ora:1522/shop:dedicated/one", "oracle://ora:1522", "shop"),
        ("jdbc:oracle:thin:@tcp://ora", "oracle://ora:1521", ""),
        ("jdbc:oracle:thin:@tcps://ora:1522/shop?wallet_location=/w&retry_count=3", "oracle://ora:1522", "shop"),
        ("jdbc:oracle:thin:ann/p/w@d@//ora/shop", "oracle://ora:1521", "shop"),
        ("jdbc:oracle:oci:ann/p?w@ora:1521:XE", "oracle://ora:1521", "XE"),
        ("jdbc:oracle:thin:@//ora1,ora2:1522/shop", "oracle://ora1:1521,ora2:1522", "shop"),
        ("jdbc:oracle:thin:@[2001:db8::7]/shop", "oracle://[2001:db8::7]:1521", "shop"),
        (f"jdbc:oracle:thin:@{TNS}(CONNECT_DATA=(SERVICE_NAME=ORCLCDB)))", "oracle://ora1:1532,ora2:1522", "ORCLCDB"),
        ("jdbc:oracle:thin:ann/x@(DESCRIPTION=(ADDRESS=(PROTOCOL=tcp)(HOST=ora))(CONNECT_DATA=(SID=XE)))", "oracle://ora:1521", "XE"),
        ("jdbc:oracle:oci@(DESCRIPTION=(ADDRESS=(HOST=ora)(PORT=1521))(CONNECT_DATA=(INSTANCE_NAME=XE)))", "oracle://ora:1521", "XE"),
        ("jdbc:oracle:thin:@ldap://oid:5000/shop,cn=OracleContext,dc=example", "oracle://oid:5000", "shop"),
        ("jdbc:oracle:thin:@ldaps:oid:5000/cn=sales,cn=OracleContext/shop ldap:b:5000/cn=sales/shop", "oracle://oid:5000", "shop"),
        ("JDBC:ORACLE:THIN:@//ORA.EXAMPLE.COM/SHOP", "oracle://ora.example.com:1521", "SHOP"),
        # SQL Server and Sybase
        ("jdbc:sqlserver://ms", "mssql://ms:1433", ""),
        ("jdbc:sqlserver://ms:1435;databaseName=shop;user=ann;password={a;databaseName=x}", "mssql://ms:1435", "shop"),
        ("jdbc:sqlserver://ms\\east;DATABASENAME=shop", "mssql://ms/east", "shop"),
        ("jdbc:sqlserver://ms\\east:1435;database=shop", "mssql://ms:1435", "shop"),
        ("jdbc:sqlserver://;serverName=ms;portNumber=1435;instanceName=east", "mssql://ms:1435", ""),
        ("jdbc:sqlserver://;serverName=2001:db8::7", "mssql://[2001:db8::7]:1433", ""),
        ("jdbc:jtds:sqlserver://ms/shop;instance=east;domain=d", "mssql://ms/east", "shop"),
        ("jdbc:jtds:sybase://sy:5000/shop", "sybase://sy:5000", "shop"),
        ("jdbc:sybase:Tds:sy:5000/shop?charset=utf8", "sybase://sy:5000", "shop"),
        # Db2, Informix
        ("jdbc:db2://d:50001/sample:user=ann;password=x;retrieveMessagesFromServerOnGetMessage=true;", "db2://d:50001", "sample"),
        ("jdbc:as400://i/lib;naming=system", "as400://i", "lib"),
        ("jdbc:informix-sqli://i:9088/stores:INFORMIXSERVER=x;user=ann", "informix://i:9088", "stores"),
        # warehouses
        ("jdbc:redshift://c1.abc.eu-west-1.redshift.amazonaws.com:5439/dev", "redshift://c1.eu-west-1:5439", "dev"),
        ("jdbc:redshift:iam://wg.123.eu-west-1.redshift-serverless.amazonaws.com/dev", "redshift://wg.eu-west-1:5439", "dev"),
        ("jdbc:snowflake://acme-x.snowflakecomputing.com:443/?db=SHOP&warehouse=W&role=R", "snowflake://acme-x", "SHOP"),
        (
            "jdbc:awsathena://AwsRegion=eu-west-1;S3OutputLocation=s3://b/x;UID=u;PWD=p",
            "awsathena://athena.eu-west-1.amazonaws.com",
            "AwsDataCatalog",
        ),
        ("jdbc:awsathena://athena.eu-west-1.amazonaws.com:443;Catalog=lake", "awsathena://athena.eu-west-1.amazonaws.com", "lake"),
        ("jdbc:bigquery://https://www.googleapis.com/bigquery/v2:443;ProjectId=p1;OAuthType=0;OAuthPvtKey=x", "bigquery", "p1"),
        (
            "jdbc:databricks://adb-1.azuredatabricks.net:443;httpPath=/x;ConnCatalog=main;PWD=p",
            "unitycatalog://adb-1.azuredatabricks.net",
            "main",
        ),
        ("jdbc:databricks://adb-1.azuredatabricks.net:443/default;PWD=p", "databricks://adb-1.azuredatabricks.net", ""),
        ("jdbc:teradata://td/DATABASE=shop,DBS_PORT=1111,USER=ann,PASSWORD=x", "teradata://td:1111", "shop"),
        ("jdbc:trino://t/lake/raw?SSL=true", "trino://t:443", "lake"),
        ("jdbc:hive2://h1:10000/shop;principal=hive/_HOST@EXAMPLE.COM?x=1#y", "hive://h1:10000", "shop"),
        ("jdbc:ch:https://ch:8443/shop", "clickhouse://ch:8443", "shop"),
        ("jdbc:cassandra://[::1]--c2:9043/ks", "cassandra://[::1]:9042,c2:9043", "ks"),
        # others: by the driver's own name
        ("jdbc:unknown://ann:x@h1:1,ann:x@h2:2/db", "unknown://h1:1,h2:2", "db"),
        ("jdbc:unknown://h:user=ann;password=x", "unknown://h", ""),
        ("jdbc:unknown://h;ssl=true", "unknown://h", ""),
        ("jdbc:exa:e:8563;schema=X", "exa://e:8563", ""),
        ("jdbc:omnisci:o:6274:db", "omnisci://o:6274", "db"),
        ("jdbc:sqlite:/data/shop.db?cache=shared", "sqlite:///data/shop.db", ""),
    ],
)
def test_the_server_and_the_database_of_an_address(url: str, namespace: str, database: str) -> None:
    address = read_jdbc(url)
    assert address is not None
    assert (address.namespace, address.database) == (namespace, database)


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://h/db",
        "jdbc:oracle:thin:@shop_high?TNS_ADMIN=/opt/wallet",
        "jdbc:oracle:oci:@SHOP",
        "jdbc:oracle:thin:ann/tiger",
        "jdbc:sqlite::memory:",
        "jdbc:h2:mem:test",
        "jdbc:db2:SAMPLE",
        "jdbc:mysql://<host>:<port>/db",
        "jdbc:sqlserver://",
        "jdbc:bigquery://https://www.googleapis.com/bigquery/v2:443",
        "jdbc:awsathena://S3OutputLocation=s3://b",
        "jdbc:postgresql://" + "a" * 9_000,
        "jdbc:postgresql:///shop?cloudSqlInstance=p:eu:i&socketFactory=com.google.cloud.sql.postgres.SocketFactory&user=ann",
        "jdbc:postgresql://localhost/shop?socketFactory=com.google.cloud.sql.postgres.SocketFactory&cloudSqlInstance=p:eu:i",
        "jdbc:postgresql:///shop?alloydbInstanceName=projects/p/locations/l/clusters/c/instances/i",
        "jdbc:mysql:///shop?cloudSqlInstance=p:eu:i&socketFactory=com.google.cloud.sql.mysql.SocketFactory",
        "jdbc:mysql://google/shop?socketFactory=com.google.cloud.sql.mysql.SocketFactory",
        "jdbc:mariadb://localhost/shop?socketFactory=com.google.cloud.sql.mariadb.SocketFactory&cloudSqlInstance=p:eu:i",
        "jdbc:sqlserver://localhost;databaseName=shop;socketFactoryClass=com.google.cloud.sql.sqlserver.SocketFactory",
    ],
)
def test_an_address_without_its_server_is_none(url: str) -> None:
    assert read_jdbc(url) is None


@pytest.mark.parametrize(
    ("url", "table", "schema", "user", "name"),
    [
        ("jdbc:postgresql://h/db", "orders", None, "", "db.public.orders"),
        ("jdbc:postgresql://h/db?currentSchema=app,public", "orders", None, "", "db.app.orders"),
        ("jdbc:postgresql://h/db?options=-c%20search_path=app,public&ssl=true", "orders", None, "", "db.app.orders"),
        ('jdbc:postgresql://h/db?options=-csearch_path="$user",app', "orders", None, "", "db.app.orders"),
        ("jdbc:clickhouse://h:8123", "orders", None, "", "default.orders"),
        ("jdbc:postgresql://h/db", '"app"."orders"', None, "", "db.app.orders"),
        ("jdbc:sqlserver://h;databaseName=db", "orders", None, "", "db.dbo.orders"),
        ("jdbc:oracle:thin:@//h/XE", "ORDERS", None, "scott", "XE.SCOTT.ORDERS"),
        ("jdbc:oracle:thin:@//h/XE", "ORDERS", None, '"scott"', "XE.scott.ORDERS"),
        ("jdbc:oracle:thin:@//h/XE", "ORDERS", "HR", "scott", "XE.HR.ORDERS"),
        ("jdbc:oracle:thin:@//h/XE", "HR.ORDERS", None, "scott", "XE.HR.ORDERS"),
        ("jdbc:oracle:thin:@//h/XE", "ORDERS", None, "", "XE.ORDERS"),
        ("jdbc:oracle:thin:scott/tiger@//h/XE", "ORDERS", None, "", "XE.SCOTT.ORDERS"),
        ("jdbc:oracle:thin:scott/tiger@//h/XE", "ORDERS", None, "ann", "XE.ANN.ORDERS"),
        ("jdbc:oracle:thin:scott/tiger@//h/XE", "HR.ORDERS", None, "", "XE.HR.ORDERS"),
        ("jdbc:oracle:thin:app[scott]/tiger@h:1521:XE", "ORDERS", None, "", "XE.SCOTT.ORDERS"),
        ("jdbc:oracle:thin:/@//h/XE", "ORDERS", None, "", "XE.ORDERS"),
        ("jdbc:db2://h:50000/sample:user=ann;password=tiger;", "ORDERS", None, "", "sample.ANN.ORDERS"),
        ("jdbc:db2://h:50000/sample:password=tiger;user=ann;", "ORDERS", None, "", "sample.ORDERS"),
        ("jdbc:sap://h:30015/?user=ann&password=tiger", "ORDERS", None, "", "ANN.ORDERS"),
        ("jdbc:db2://h/sample:currentSchema=APP;", "ORDERS", None, "ann", "sample.APP.ORDERS"),
        ("jdbc:db2://h/sample", "ORDERS", None, "ann", "sample.ANN.ORDERS"),
        ("jdbc:sap://h:30015/?databaseName=HXE&currentschema=APP", "ORDERS", None, "", "APP.ORDERS"),
        ("jdbc:mysql://h/shop", "orders", None, "ann", "shop.orders"),
        ("jdbc:mysql://h/shop", "other.orders", None, "", "other.orders"),
        ("jdbc:awsathena://AwsRegion=eu-west-1;Schema=raw", "orders", None, "", "AwsDataCatalog.raw.orders"),
        ("jdbc:bigquery://https://x:443;ProjectId=p1;DefaultDataset=d", "orders", None, "", "p1.d.orders"),
        ("jdbc:databricks://h:443;ConnCatalog=main;ConnSchema=raw", "orders", None, "", "main.raw.orders"),
        ("jdbc:databricks://h:443/default", "orders", None, "", "default.orders"),
        ("jdbc:snowflake://a.snowflakecomputing.com/?db=SHOP&schema=RAW", "ORDERS", None, "", "SHOP.RAW.ORDERS"),
        ("jdbc:unknown://h/db", "app.orders", None, "ann", "db.app.orders"),
    ],
)
def test_the_name_of_a_table(url: str, table: str, schema: str | None, user: str, name: str) -> None:
    found = jdbc_dataset(url, table, schema, user)
    assert found is not None
    assert found[1] == name


_SIGNS = st.text("aB1/:?;,@=&%#{}()!~ ", max_size=6)
_FORMS = st.sampled_from(
    [
        "jdbc:oracle:thin:ann/{}@//h:1521/svc",
        "jdbc:oracle:thin:ann/{}@h:1521:sid",
        "jdbc:oracle:thin:ann/{}@(DESCRIPTION=(ADDRESS=(HOST=h)(PORT=1))(CONNECT_DATA=(SID=x)))",
        "jdbc:postgresql://ann:{}@h:5432/db",
        "jdbc:mysql://ann:{}@h1,ann:{}@h2/db",
        "jdbc:postgresql://h/db?user=ann&password={}",
        "jdbc:sqlserver://h;databaseName=db;user=ann;password={}",
        "jdbc:db2://h:50000/db:user=ann;password={};",
        "jdbc:teradata://h/USER=ann,PASSWORD={},DATABASE=db",
        "jdbc:unknown:thing://ann:{}@h/db",
        "jdbc:snowflake://a.snowflakecomputing.com/?user=u&password={}&db=SHOP",
        "jdbc:awsathena://AwsRegion=eu-west-1;PWD={}",
        "jdbc:sqlite:/x.db?password={}",
    ]
)


@given(_FORMS, _SIGNS, _SIGNS)
def test_no_password_reaches_a_name(form: str, before: str, after: str) -> None:
    """Whatever separators it contains, a password is not in the name: the address is read without it, or not at all."""
    found = jdbc_dataset(form.replace("{}", f"{before}S3CR3T{after}"), "orders")
    assert found is None or "s3cr3t" not in "".join(found).lower()


@pytest.mark.parametrize(
    ("url", "name", "known"),
    [
        ("jdbc:jtds:sqlserver://h:1433", "orders", False),
        ("jdbc:mysql://h:3306/", "orders", False),
        ("jdbc:mysql://h:3306/", "shop.orders", True),
        ("jdbc:postgresql://h/shop", "orders", True),
        ("jdbc:oracle:thin:@//h:1521", "HR.ORDERS", False),
        ("jdbc:sap://h:39015/", "SALES.ORDERS", True),
        ("jdbc:postgresql://h/shop", "shop.public.orders", True),
        ("jdbc:postgresql://h/shop", "server.public.orders", False),
        ("jdbc:mysql://h/shop", "server.shop.orders", False),
        ("jdbc:mysql://h/shop", "crm.orders", True),
        ("jdbc:oracle:thin:@//h:1521/PDB1", "pdb1.HR.ORDERS", True),
        ("jdbc:oracle:thin:@//h:1521/PDB1", "HR.A.B.C", False),
        ("jdbc:sqlserver://h;databaseName=shop", "crm.dbo.orders", True),
    ],
)
def test_a_table_of_an_unknown_or_another_database_has_no_name_in_full(url: str, name: str, known: bool) -> None:
    assert (jdbc_dataset(url, name, in_full=True) is not None) is known
    assert jdbc_dataset(url, name) is not None
