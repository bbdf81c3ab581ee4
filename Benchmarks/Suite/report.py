"""Medians, ratios, tables and the chart."""
import dataclasses
import json
import math
import statistics

BEGIN, END = "<!-- figures -->", "<!-- end of figures -->"
# A section with at most this many contestants is a list instead of a table.
ITEMS_MAX = 2


def value(figures, path):
    """The figure at a path such as `cpu.primary`; None if the contestant has none."""
    for part in path.split("."):
        figures = figures.get(part) if isinstance(figures, dict) else None
    return figures


def spread(values):
    return {"median": statistics.median(values), "least": min(values), "most": max(values)}


def summary(section, results):
    contestants = []
    for contestant in section.contestants:
        rounds = results[contestant.name]
        figures = {}
        for path, _, _ in section.columns:
            values = [value(round_, path) for round_ in rounds]
            if all(found is not None for found in values):
                figures[path] = spread(values)
        cpu = [round_["cpu"] for round_ in rounds if "cpu" in round_]
        roles = {role for round_ in cpu for role in round_}
        contestants.append(
            {
                "name": contestant.name,
                "row": contestant.name if contestant.row is None else contestant.row,
                "column": contestant.column,
                "figures": figures,
                "cpu_ns": {role: statistics.median(round_.get(role, 0) for round_ in cpu) for role in sorted(roles)},
                "rounds": rounds,
            }
        )
    return {
        "key": section.key,
        "title": section.title,
        "columns": section.columns,
        "grid": section.grid,
        "shows_cpu": section.shows_cpu,
        "contestants": contestants,
        "ratios": [ratio(wanted, results) for wanted in section.ratios],
    }


def again(outcome, sections):
    """An earlier outcome with the present tables and goals, without contestants that it does not have."""
    by_key = {section.key: section for section in sections}
    summaries = []
    for earlier in outcome["sections"]:
        results = {contestant["name"]: contestant["rounds"] for contestant in earlier["contestants"]}
        section = by_key[earlier["key"]]
        contestants = [contestant for contestant in section.contestants if contestant.name in results]
        ratios = [wanted for wanted in section.ratios if {wanted.contestant, *wanted.references} <= results.keys()]
        summaries.append(summary(dataclasses.replace(section, contestants=contestants, ratios=ratios), results))
    return {**outcome, "sections": summaries}


def ratio(wanted, results):
    """A ratio of medians, and the least and the most of the ratios of single rounds."""

    def values(name):
        return [value(round_, wanted.figure) for round_ in results[name]]

    ours = values(wanted.contestant)
    references = [sum(round_) for round_ in zip(*map(values, wanted.references))] or [1] * len(ours)
    median = statistics.median(ours) / statistics.median(references)
    paired = [one / other for one, other in zip(ours, references)]
    goal = wanted.at_least if wanted.at_least is not None else wanted.at_most
    is_met = None
    if goal is not None:
        is_met = median >= goal if wanted.at_least is not None else median <= goal
    return {
        "contestant": wanted.contestant,
        "figure": wanted.figure,
        "references": wanted.references,
        "median": median,
        "least": min(paired),
        "most": max(paired),
        "at_least": wanted.at_least,
        "at_most": wanted.at_most,
        "is_met": is_met,
    }


def number(found):
    """Three significant digits; a whole number has no decimals."""
    if found == 0:
        return "0"
    rounded = float(f"{found:.2e}")
    decimals = 0 if found == int(found) else max(0, 2 - math.floor(math.log10(abs(rounded))))
    return f"{rounded:,.{decimals}f}"


def label(found):
    references = " + ".join(found["references"])
    return f"{found['contestant']}{' / ' if references else ''}{references}"


def markdown(outcome):
    machine = outcome["machine"]
    lines = [
        f"{machine['processors']} processors ({machine['processor']}), {machine['memory_gib']} GiB; "
        f"{machine['file_system']}, fdatasync {machine['fsync_us']} us; commit {machine['commit']}; "
        f"medians of {outcome['rounds']} rounds{', quick' if outcome['quick'] else ''}.",
    ]
    for section in outcome["sections"]:
        lines += ["", f"**({section['key']}) {section['title']}**", ""]
        if section["grid"]:
            lines += grid(section)
        elif len(section["contestants"]) <= ITEMS_MAX:
            lines += items(section)
        else:
            lines += table(section)
    return "\n".join(lines) + "\n"


def rows_of(cells):
    head, *others = ["| " + " | ".join(row) + " |" for row in cells]
    return [head, "|---" * len(cells[0]) + "|", *others]


def table(section):
    """A row for each contestant."""
    columns = [column for column in section["columns"] if any(figure(c, column) for c in section["contestants"])]
    head = ["", *(title for _, title, _ in columns)]
    has_references = any(found["references"] for found in section["ratios"])
    head += ["CPU, us"] * section["shows_cpu"] + ["ratio, goal" if has_references else "goal"] * bool(section["ratios"])
    cells = [head]
    for contestant in filter(lambda contestant: contestant["row"], section["contestants"]):
        row = [contestant["row"], *(figure(contestant, column) for column in columns)]
        row += [cpu(contestant)] * section["shows_cpu"]
        row += ["<br>".join(ratios_of(section, contestant))] * bool(section["ratios"])
        cells.append(row)
    return rows_of(cells)


def items(section):
    """A line for each contestant."""
    for contestant in section["contestants"]:
        figures = [(title, figure(contestant, (path, title, scale))) for path, title, scale in section["columns"]]
        text = "; ".join(f"{text} {title}" for title, text in figures if text)
        for found in ratios_of(section, contestant):
            text += f"{' ' if found.startswith('(') else ', '}{found}"
        yield f"- {contestant['row']}: {text}"


def grid(section):
    """A row for each row of the contestants, with their columns."""
    columns = list(dict.fromkeys(c["column"] for c in section["contestants"] if c["column"]))
    ((_, title, _),) = section["columns"]
    cells = [[f"{title}: ratio", *columns]]
    for row in dict.fromkeys(c["row"] for c in section["contestants"]):
        of_row = [c for c in section["contestants"] if c["row"] == row]
        found = [next((c for c in of_row if c["column"] in (column, None)), None) for column in columns]
        cells.append([row, *(grid_cell(section, contestant, column) for contestant, column in zip(found, columns))])
        times = [cpu(contestant) if contestant else "" for contestant in found]
        if section["shows_cpu"] and any(times):
            cells.append([f"{row}, CPU us", *times])
    return rows_of(cells)


def grid_cell(section, contestant, column):
    if contestant is None:
        return ""
    column_of = {other["name"]: other["column"] for other in section["contestants"]}
    texts = [figure(contestant, section["columns"][0])]
    for found in section["ratios"]:
        names = [found["contestant"]] if section["grid"] == "contestant" else found["references"]
        if contestant["name"] in names and column_of[found["contestant"]] == column:
            texts.append(judgement(found, 1))
    return ": ".join(texts)


def figure(contestant, column):
    path, _, scale = column
    found = contestant["figures"].get(path)
    return number(found["median"] * scale) if found else ""


def cpu(contestant):
    """Microseconds per action, of all threads."""
    times = contestant["cpu_ns"].values()
    return number(sum(times) / 1000) if times else ""


def ratios_of(section, contestant):
    """The ratios of a contestant, each with its figure and references if they are not the same in the whole section."""
    row_of = {other["name"]: other["row"] for other in section["contestants"]}
    columns = {path: (title, scale) for path, title, scale in section["columns"]}
    has_one_figure = len({found["figure"] for found in section["ratios"]}) == 1
    has_one_reference = len({tuple(found["references"]) for found in section["ratios"]} - {()}) == 1
    for found in section["ratios"]:
        if found["contestant"] != contestant["name"]:
            continue
        title, scale = columns[found["figure"]]
        words = [] if has_one_figure else [title.split(",")[0]]
        if found["references"] and not has_one_reference:
            words += ["to", " + ".join(row_of[name] for name in found["references"])]
        yield ": ".join(filter(None, [" ".join(words), judgement(found, scale)]))


def judgement(found, scale):
    """A ratio; with a goal, also its range and the goal. A figure without a reference is in the table."""
    if found["references"]:
        scale = 1
    median = number(found["median"]) if found["references"] else ""
    if found["is_met"] is None:
        return median
    least, most = number(found["least"] * scale), number(found["most"] * scale)
    span = f"({least}-{most})" if least != most else ""
    sign, bound = ("≥", found["at_least"]) if found["at_least"] is not None else ("≤", found["at_most"])
    goal = number(bound * scale)
    goal = goal.rstrip("0").rstrip(".") if "." in goal else goal
    texts = [" ".join(filter(None, [median, span])), f"{sign} {goal}{'' if found['is_met'] else ' **missed**'}"]
    return ", ".join(filter(None, texts))


def chart(outcome):
    """Each goal as a bar: how many times it is reached. 1 is the goal."""
    import pygal
    import pygal.style

    style = pygal.style.Style(background="white", plot_background="white", colors=("#2b6cb0",), font_family="sans-serif")
    bars = pygal.HorizontalBar(
        style=style,
        width=900,
        show_legend=False,
        js=[],
        title="How much of each goal is reached (1: just met; more is better)",
        print_values=True,
        formatter=lambda part: f"{part:.2f}",
        truncate_label=100,
        range=(0, 3),
    )
    labels, parts = [], []
    for section in outcome["sections"]:
        for found in section["ratios"]:
            if found["is_met"] is None:
                continue
            at_least = found["at_least"] is not None
            part = found["median"] / found["at_least"] if at_least else found["at_most"] / found["median"]
            labels.append(f"({section['key']}) {label(found)}")
            parts.append({"value": min(part, 3), "color": "#2b6cb0" if found["is_met"] else "#c05621"})
    bars.x_labels = labels[::-1]
    bars.height = 120 + 26 * len(labels)
    bars.add("", parts[::-1])
    return bars.render()


def write(outcome, folder):
    (folder / "bench.json").write_text(json.dumps(outcome, indent=1) + "\n")
    (folder / "bench.svg").write_bytes(chart(outcome))


def publish(outcome, docs):
    """Writes the chart, and replaces the tables of BENCHMARKS.md."""
    (docs / "bench.svg").write_bytes(chart(outcome))
    document = docs / "BENCHMARKS.md"
    text = document.read_text()
    before, after = text.index(BEGIN) + len(BEGIN), text.index(END)
    document.write_text(text[:before] + "\n" + markdown(outcome) + text[after:])
