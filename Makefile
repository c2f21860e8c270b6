# Each target sets up what it needs; all it asks of a machine is checked by tools/prerequisites.sh.
.DEFAULT_GOAL := help
.PHONY: help run page page-build pictures openapi test check format bench torture jars servers producers systemd oracle lock migration clean
ARGS ?=

IN_RUN := sh tools/environment.sh run
IN_DEV := sh tools/environment.sh dev
IN_PARALLEL := --numprocesses logical --dist loadgroup

help: ## what can be made (this list)
	@while IFS= read -r line; do case "$$line" in [a-z]*': ## '*) \
		printf '  make %-10s %s\n' "$${line%%:*}" "$${line#*: ## }";; esac; done < Makefile

run: ## start LineageBridge with the demo pipeline in it
	@$(IN_RUN) .venv/bin/python tools/page.py run
	@.venv/bin/lineage-bridge serve --demo $(ARGS)

page: ## show the web page with live reload, against a running server (LINEAGE_BRIDGE_URL)
	@$(IN_RUN) .venv/bin/python tools/page.py develop

page-build: ## build the web page into the package
	@$(IN_RUN) .venv/bin/python tools/page.py build

pictures: ## take the pictures of the page in docs/ anew
	@$(IN_DEV) env TEST_PICTURES=docs/pictures .venv/bin/python -m pytest -n 0 tests/page/test_pictures.py

openapi: ## write the description of the API that the web page's client is made from
	@$(IN_DEV) .venv/bin/python -m tools.openapi

test: ## check, then run all tests, in parallel (ARGS="-k verdict" runs some, and no checks)
	@$(if $(ARGS),$(IN_DEV) true,$(IN_DEV) sh tools/check.sh tests)
	@PYTHONDONTWRITEBYTECODE= .venv/bin/python -m pytest $(if $(ARGS),$(ARGS),$(IN_PARALLEL))

check: ## format, lint, types and the direction of imports
	@$(IN_DEV) sh tools/check.sh

format: ## write the format, and the fixes the linter is sure of
	@$(IN_DEV) sh tools/format.sh

bench: ## print speeds as JSON
	@$(IN_DEV) .venv/bin/python -m bench $(ARGS)

torture: ## kill processes, fill disks and lose files while events come by every way (ARGS="--rounds 200 --seed 7")
	@$(IN_DEV) .venv/bin/python -m tests.crash.torture $(ARGS)

jars: ## fetch the Java archives the tests of real producers need, into the user's cache
	@$(IN_DEV) .venv/bin/python -m tools.jars agent

servers: ## fetch what the tests' servers are made of, into the user's cache
	@$(IN_DEV) .venv/bin/python -m tests.servers

producers: ## run real producers and compare their graphs (ARGS="dbt-duckdb airflow" runs some)
	@$(IN_DEV) .venv/bin/python -m tests.producers $(ARGS)

systemd: ## start the systemd unit of docs/security.md in a virtual machine (ARGS=kvm uses the processor's own)
	@$(IN_DEV) .venv/bin/python -m tests.systemd $(ARGS)

oracle: ## ask Flink's planner for the columns of the answer book
	@$(IN_DEV) .venv/bin/python -m tools.oracle

lock: ## write requirements/ anew from pyproject.toml (ARGS=--upgrade for the newest versions)
	@$(IN_DEV) sh tools/lock.sh $(ARGS)

migration: ## add a migration of the graph store, made from its tables
	@$(IN_DEV) .venv/bin/python tools/migration.py

clean: ## remove all that was made here
	@rm -rf .venv .venv.lock build dist web/node_modules web/.lock src/lineage_bridge/api/web/static src/*.egg-info .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
	@find src tests bench tools -name __pycache__ -prune -exec rm -rf {} +
