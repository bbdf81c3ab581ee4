"""The public symbols of the library products, for the scripts beside this file."""
import glob
import json
import os
import re
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def output(*command, **environment):
    return subprocess.run(
        command, cwd=ROOT, env={**os.environ, **environment}, check=True, stdout=subprocess.PIPE, text=True
    ).stdout


def modules():
    """The targets of the library products, sorted."""
    package = json.loads(output("swift", "package", "dump-package"))
    products = [product for product in package["products"] if "library" in product["type"]]
    return sorted({target for product in products for target in product["targets"]})


def exported(module):
    """The modules that a module exports as a whole, and the names that it exports, by module."""
    whole, names = [], {}
    for folder, _, files in os.walk(f"{ROOT}/Sources/{module}"):
        for file in sorted(files):
            if not file.endswith(".swift"):
                continue
            with open(f"{folder}/{file}") as source:
                for line in re.findall(r"^@_exported public import (.*)$", source.read(), re.M):
                    *kind, path = line.split()
                    if kind:
                        owner, name = path.split(".")
                        names.setdefault(owner, []).append(name)
                    else:
                        whole.append(path)
    return whole, names


def build(names):
    """Builds modules, and yields them: the macro's module with its trait, apart from the others, which it would rebuild."""
    for group, options in (
        ([name for name in names if name != "StatecastSmartCopy"], []),
        ([name for name in names if name == "StatecastSmartCopy"], ["--traits", "SmartCopy"]),
    ):
        if not group:
            continue
        environment = {**os.environ, "STATECAST_TARGETS": ",".join(group)}
        # Most packages are unused then, which SwiftPM warns about.
        done = subprocess.run(
            ["swift", "build", *options],
            cwd=ROOT,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        if done.returncode != 0:
            sys.exit(done.stdout)
        yield from group


def module_maps():
    """The folders with the module maps of C, and with the headers that are elsewhere."""
    yield f"{ROOT}/Sources/CStatecastPlatform"
    yield f"{ROOT}/Sources/CStatecastSodium"
    yield f"{ROOT}/Sources/CStatecastZeroMQ"
    yield f"{ROOT}/Sources/CStatecastChecksum/include"
    yield f"{ROOT}/Sources/CStatecastSQLite"
    yield f"{ROOT}/Sources/CStatecastPostgres"
    if os.path.isdir(debian := "/usr/include/postgresql"):
        yield debian
    else:
        yield output("pkg-config", "--variable=includedir", "libpq").strip()
    for package in ["swift-atomics", "swift-nio"]:
        for place, _, files in os.walk(f"{ROOT}/.build/checkouts/{package}/Sources"):
            if "module.modulemap" in files:
                yield place


def extract(names, folder, follows_exports=True):
    """Builds modules and writes the symbol graph of each to a folder of its own; returns the graphs by file and module.

    A graph has the symbols that a module exports by name, and those of a module that it exports as a whole only with
    `follows_exports`.
    """
    binaries = output("swift", "build", "--show-bin-path").strip()
    target = json.loads(output("swift", "-print-target-info"))["target"]["triple"]
    graphs = {}
    for name in build(names):
        # And the module maps that SwiftPM makes.
        made = sorted(os.path.dirname(path) for path in glob.glob(f"{binaries}/*.build/module.modulemap"))
        search = [f"{binaries}/Modules", *module_maps(), *made]
        here = f"{folder}/{name}"
        os.makedirs(here)
        whole, partial = exported(name)
        others = ",".join((whole if follows_exports else []) + sorted(partial))
        subprocess.run(
            ["swift", "symbolgraph-extract", "-module-name", name, "-target", target, "-output-dir", here]
            + ["-minimum-access-level", "public", "-skip-synthesized-members", "-emit-extension-block-symbols"]
            + ([f"-experimental-allowed-reexported-modules={others}"] if others else [])
            + [option for path in search for option in ("-I", path)],
            check=True,
        )
        graphs[name] = {}
        for file in sorted(os.listdir(here)):
            with open(f"{here}/{file}") as content:
                graph = json.load(content)
            select(graph, partial)
            with open(f"{here}/{file}", "w") as content:
                json.dump(graph, content)
            graphs[name][file] = graph
    return graphs


def select(graph, partial):
    """Drops the symbols of other modules that are neither exported by name nor members of such a type."""
    owners = {name: owner for owner, names in partial.items() for name in names}

    def is_kept(symbol):
        # Swift's mangled names begin with the length and the name of the module.
        module = re.match(r"s:(?:e:s:)?(\d+)", symbol["identifier"]["precise"])
        if not module:
            return True
        start = module.end()
        module = symbol["identifier"]["precise"][start : start + int(module[1])]
        return module not in partial or owners.get(symbol["pathComponents"][0]) == module

    graph["symbols"] = [symbol for symbol in graph["symbols"] if is_kept(symbol)]
    known = {symbol["identifier"]["precise"] for symbol in graph["symbols"]}
    graph["relationships"] = [relation for relation in graph["relationships"] if relation["source"] in known]
