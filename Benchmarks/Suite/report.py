"""Medians, ratios, tables and the chart."""
import json
import pathlib
import statistics

BEGIN, END = "<!-- figures -->", "<!-- end of figures -->"


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
        figures = {}
        for path, _ in section.columns:
            values = [value(round_, path) for round_ in results[contestant.name]]
            if all(found is not None for found in values):
                figures[path] = spread(values)
        cpu = [round_["cpu"] for round_ in results[contestant.name] if "cpu" in round_]
        roles = {role for round_ in cpu for role in round_}
        contestants.append(
            {
                "name": contestant.name,
                "figures": figures,
                "cpu_ns": {role: statistics.median(round_.get(role, 0) for round_ in cpu) for role in sorted(roles)},
                "rounds": results[contestant.name],
            }
        )
    return {
        "key": section.key,
        "title": section.title,
        "columns": section.columns,
        "contestants": contestants,
        "ratios": [ratio(wanted, results) for wanted in section.ratios],
    }


def ratio(wanted, results):
    """A ratio of medians, and the least and the most of the ratios of single rounds."""

    def values(name):
        return [value(round_, wanted.figure) * wanted.scale for round_ in results[name]]

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
    if found >= 100:
        return f"{found:,.0f}"
    return f"{found:.2f}" if found < 10 else f"{found:.1f}"


def cell(found):
    if found is None:
        return ""
    return f"{number(found['median'])} ({number(found['least'])}-{number(found['most'])})"


def markdown(outcome):
    machine = outcome["machine"]
    lines = [
        f"{machine['processors']} processors ({machine['processor']}), {machine['memory_gib']} GiB, "
        f"{machine['kernel']}; {machine['file_system']}, fdatasync {machine['fsync_us']} us; {machine['swift']}, libzmq "
        f"{machine['libzmq']}, {machine['redis']}, {machine['nats']}; commit {machine['commit']}.",
        f"Medians of {outcome['rounds']} rounds (least-most){', quick' if outcome['quick'] else ''}.",
    ]
    for section in outcome["sections"]:
        lines += ["", f"**({section['key']}) {section['title']}**", ""]
        shown = [column for column in section["columns"] if any(column[0] in c["figures"] for c in section["contestants"])]
        has_cpu = section["key"].startswith("1") and any(c["cpu_ns"] for c in section["contestants"])
        titles = [""] + [title for _, title in shown] + (["CPU ns per action"] if has_cpu else [])
        lines += ["| " + " | ".join(titles) + " |", "|---" * len(titles) + "|"]
        for contestant in section["contestants"]:
            cells = [contestant["name"]] + [cell(contestant["figures"].get(path)) for path, _ in shown]
            if has_cpu:
                cells.append(", ".join(f"{role} {time:.0f}" for role, time in contestant["cpu_ns"].items() if time >= 1))
            lines.append("| " + " | ".join(cells) + " |")
        if not section["ratios"]:
            continue
        lines += ["", "| ratio of medians | | round by round | goal |", "|---|---|---|---|"]
        for found in section["ratios"]:
            lines.append("| " + " | ".join(ratio_cells(found)) + " |")
    return "\n".join(lines) + "\n"


def label(found):
    references = " + ".join(found["references"])
    return f"{found['contestant']}{' / ' if references else ''}{references}"


def ratio_cells(found):
    name = f"{label(found)}, {found['figure'].split('.')[-1]}"
    bound = ""
    if found["is_met"] is not None:
        bound = f"at least {found['at_least']:g}" if found["at_least"] is not None else f"at most {found['at_most']:g}"
        bound += "" if found["is_met"] else ": **missed**"
    return [name, f"**{number(found['median'])}**", f"{number(found['least'])}-{number(found['most'])}", bound]


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


def insert(outcome, document):
    """Replaces the tables of a document."""
    text = document.read_text()
    before, after = text.index(BEGIN) + len(BEGIN), text.index(END)
    document.write_text(text[:before] + "\n" + markdown(outcome) + text[after:])
