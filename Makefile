# make run        a primary, an agent, a live board and a page for browsers; Ctrl-C ends all (SECONDS=10: after ten seconds)
# make run-secure the same with keys and without the page: encrypted, and open only to the nodes of an access list (SECONDS=10)
# make test       builds everything without warnings, checks the format, runs all tests
# make test-release  builds all products in release, checks the installation, runs the main suites optimized
# make nightly    the longer checks of a release, in a copy of the last commit; goes on where it ended
# make install    executables, man pages, completions, units and config in release (PREFIX=/usr/local DESTDIR=)
# make uninstall  removes them; config files stay
# make bench      compares Statecast with the raw libzmq pipe, Redis and NATS (QUICK=1: within 3 minutes; ONLY=1a,2; DOCS=1)
# make crash-test  kills a primary and its senders under load, on slow and failing disks, and checks the journal (CYCLES=200)
# make failover-test  kills and cuts nodes that share a database, and its servers, under load (CYCLES=200)
# make hostile-test  attacks a primary as a member would (SECONDS=20 for each attack; ONLY=forged)
# make bench-core compares the in-process core with a serial dispatch queue (FILTER=regular expression)
# make bench-coding  compares the coding with Foundation's JSON (FILTER=regular expression)
# make instructions  counts the instructions of an action in each role, and compares them with the thresholds
# make fuzz       searches for inputs that break a decoder, apply or a machine of the protocol (SECONDS=60 for each)
# make mutants    requires that the checks find each of the faults in Tests/Mutants; goes on where it ended
# make simulate   runs whole clusters under a virtual clock with faults, in release (MINUTES=10)
# make tsan       the tests of the core, the sockets, the nodes and the journal under ThreadSanitizer
# make documentation  builds the documentation with DocC, without warnings (.build/documentation)
# make stress     the tests ten times in a row while all cores are busy (TIMES=10)

SECONDS =
TIMES = 10
CYCLES = 200
FILTER = .*
QUICK =
ONLY =
DOCS =

MINUTES = 10

PREFIX = /usr/local

.PHONY: run run-secure test test-release nightly install uninstall lint bench bench-core bench-coding instructions fuzz simulate mutants tsan stress crash-test failover-test hostile-test documentation libraries libraries-of-tests

run: libraries
	@scripts/run $(SECONDS)

run-secure: libraries
	@scripts/run --keys $(SECONDS)

test: libraries-of-tests lint
	@scripts/test

test-release: libraries-of-tests
	@scripts/test-release

nightly: libraries-of-tests
	@scripts/nightly

install: libraries
	@PREFIX='$(PREFIX)' DESTDIR='$(DESTDIR)' scripts/install

uninstall:
	@PREFIX='$(PREFIX)' DESTDIR='$(DESTDIR)' scripts/install --uninstall

lint:
	@swift format lint --strict --recursive Package.swift Sources Tests Examples Benchmarks Fuzzing
	@# The formatter leaves comments and strings alone. PageFiles.swift contains the page, and tells the formatter to ignore it.
	@! LC_ALL=C.UTF-8 grep -rnE --include='*.swift' --exclude=PageFiles.swift --exclude-dir=.build '^.{121,}$$' Package.swift \
	    Sources Tests Examples Benchmarks Fuzzing || { echo "lines have at most 120 characters" >&2; exit 1; }
	@scripts/make-page --check
	@scripts/check-gateway-docs

bench: libraries
	@scripts/bench $(if $(QUICK),--quick) $(if $(ONLY),--only $(ONLY)) $(if $(DOCS),--docs)

bench-core:
	@scripts/bench-core '$(FILTER)'

bench-coding:
	@scripts/bench-coding '$(FILTER)'

instructions: libraries
	@scripts/check-instructions

fuzz:
	@scripts/fuzz $(or $(SECONDS),60)

mutants: libraries-of-tests
	@scripts/mutants

simulate: libraries
	@swift build --configuration release --product statecast-simulate
	@"$$(swift build --configuration release --show-bin-path)/statecast-simulate" --minutes $(MINUTES)

tsan: libraries-of-tests
	@export STATECAST_TARGETS=StatecastCoreTests,StatecastZeroMQTests,StatecastTests,StatecastJournalTests,StatecastPostgresTests; \
	    export TSAN_OPTIONS="suppressions=$$PWD/scripts/tsan-suppressions"; \
	    options='--sanitize=thread --scratch-path .build/tsan'; \
	    swift build --build-tests $$options && scripts/run-tests $$options

documentation: libraries
	@scripts/check-documentation

stress: libraries
	@scripts/stress $(TIMES)

crash-test: libraries
	@swift build --product statecast-crash-test
	@scripts/crash-test "$$(swift build --show-bin-path)/statecast-crash-test" --cycles $(CYCLES)

failover-test: libraries-of-tests
	@swift build --configuration release
	@scripts/failover-test --cycles $(CYCLES) --build "$$(swift build --configuration release --show-bin-path)"

hostile-test: libraries
	@swift build --configuration release --product statecast-hostile-test
	@scripts/hostile-test "$$(swift build --configuration release --show-bin-path)/statecast-hostile-test" \
	    --seconds $(or $(SECONDS),20) $(if $(ONLY),--only $(ONLY))

libraries:
	@scripts/install-libraries

libraries-of-tests:
	@scripts/install-libraries --tests
