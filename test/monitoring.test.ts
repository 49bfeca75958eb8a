/**
 * What watches an installation fits what /metrics says: the table of docs/monitoring.md, the alerts and the dashboard of
 * deploy/. The rules are also checked and run by promtool where it is installed.
 */
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import sql from "sql-template-tag";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { laneReasons, queueReasons } from "#cli/status/status-page.ts";
import { readConfig } from "#platform/config/config.ts";
import { newId } from "#platform/ids.ts";
import { createLog } from "#platform/log/log.ts";
import { createSecrets } from "#platform/secrets/secrets.ts";
import { type CountIncrement, metricCounters } from "#processes/counters.ts";
import { createProcessMetrics } from "#processes/metrics.ts";
import { stubClock } from "./support/clock.ts";
import { testDatabase } from "./support/database.ts";
import { isPromtoolInstalled, promtool } from "./support/promtool.ts";

const root = fileURLToPath(new URL("../", import.meta.url));
const read = (path: string) => readFile(join(root, path), "utf8");
const page = await read("docs/monitoring.md");
const alerts: {
  readonly groups: readonly {
    readonly rules: readonly {
      readonly alert: string;
      readonly expr: string;
      readonly annotations: { readonly runbook: string };
    }[];
  }[];
} = parse(await read("deploy/prometheus/alerts.yaml"));
const dashboard = JSON.parse(await read("deploy/grafana/posthaste.json"));

/** What /metrics says when every metric has a value. */
async function scrape(): Promise<string> {
  const db = await testDatabase();
  await db.run(sql`
    insert into inbound_mails (id, kind, class, mail_from, rcpt_to, network, raw, bytes, stored_bytes, turn, due_at, received_at)
    values (${newId()}, 'return_path', 'signed', '', 'b@x.test', '192.0.2.1', '', 0, 0, 0, now(), now())`);
  const metrics = createProcessMetrics({
    config: readConfig({ DATA_DIR: tmpdir() }),
    log: createLog("silent"),
    clock: stubClock(),
    database: db,
    requests: db,
    secrets: createSecrets("a secret key that only this test uses"),
  });
  metrics.observe("sendEmail", 201, 0.1);
  for (const [name, { labels }] of Object.entries(metricCounters)) {
    const values = Object.fromEntries(labels.map((label) => [label, "any"]));
    metrics.count({ name, labels: values } as CountIncrement);
  }
  return (await metrics.scrape()).text;
}

const text = await scrape();

interface Metric {
  readonly type: string;
  readonly labels: ReadonlySet<string>;
}

/** Our metrics by name. Labels of histograms without `le`. */
function metricsIn(output: string): Map<string, Metric> {
  const found = new Map<string, { type: string; labels: Set<string> }>();
  for (const [, name = "", type = ""] of output.matchAll(/^# TYPE (\S+) (\S+)$/gm))
    found.set(name, { type, labels: new Set() });
  for (const [, series = "", labels = ""] of output.matchAll(/^([a-z_0-9]+)(?:\{(.*)\})? /gm)) {
    const metric = found.get(series) ?? found.get(series.replace(/_(bucket|sum|count)$/, ""));
    for (const [, label = ""] of labels.matchAll(/([a-z_]+)="/g))
      if (label !== "le") metric?.labels.add(label);
  }
  return found;
}
const metrics = metricsIn(text);
const own = new Map([...metrics].filter(([name]) => name.startsWith("posthaste_")));

/** The labels that Prometheus adds to every series. */
const added = ["job", "instance", "le"];

/** What an expression names that /metrics does not have. */
function faultsOf(expression: string): string[] {
  const words = expression.replaceAll(/"(?:\\.|[^"\\])*"/g, '""');
  const named = [...words.matchAll(/\b((?:posthaste|process|nodejs)_[a-z0-9_]+)(?:\{([^}]*)\})?/g)];
  if (named.length === 0 && !/\bup\{/.test(words)) return [`"${expression}" names no metric`];
  const ofMetrics = named.flatMap(([, name = "", selectors = ""]) => {
    const metric = metrics.get(name) ?? metrics.get(name.replace(/_(bucket|sum|count)$/, ""));
    if (metric === undefined) return [`there is no metric ${name}`];
    const labels = Array.from(selectors.matchAll(/([a-z_]+)\s*[=!]/g), ([, label = ""]) => label);
    return labels
      .filter((label) => !metric.labels.has(label) && !added.includes(label))
      .map((label) => `${name} has no label ${label}`);
  });
  const known = new Set(
    named.flatMap(([, name = ""]) => [...(metrics.get(name.replace(/_bucket$/, ""))?.labels ?? [])]),
  );
  const grouped = Array.from(words.matchAll(/\bby \(([^)]*)\)/g), ([, list = ""]) =>
    list.split(/,\s*/),
  ).flat();
  const ofGroups = grouped
    .filter((label) => !known.has(label) && !added.includes(label))
    .map((label) => `no metric of "${expression}" has the label ${label}`);
  return [...ofMetrics, ...ofGroups];
}

interface Panel {
  readonly title: string;
  readonly targets?: readonly { readonly expr: string }[];
}
const expressions: string[] = dashboard.panels.flatMap(({ targets = [] }: Panel) =>
  targets.map(({ expr }) => expr),
);

test("the table of metrics in the docs has each of our metrics, with its type and labels", () => {
  const rows = [...page.matchAll(/^\| `(posthaste_\w+)` \| (\w+) \| ([^|]*)\| /gm)];
  const documented = rows.map(([, name = "", type, labels = ""]) => [
    name,
    { type, labels: new Set(Array.from(labels.matchAll(/`(\w+)`/g), ([, label]) => label)) },
  ]);
  expect(Object.fromEntries(documented)).toEqual(Object.fromEntries(own));
  expect(documented).toHaveLength(own.size);
});

test("the dashboard names only metrics and labels that exist, and shows each metric of ours", () => {
  expect(expressions.flatMap(faultsOf)).toEqual([]);
  const shown = expressions.join(" ");
  expect([...own.keys()].filter((name) => !shown.includes(name))).toEqual([]);
});

test("an expression that names what does not exist is found", () => {
  expect(faultsOf("sum(rate(posthaste_nothing_total[5m]))")).toHaveLength(1);
  expect(faultsOf('posthaste_jobs{kind="a"}')).toEqual(["posthaste_jobs has no label kind"]);
  expect(faultsOf("sum by (provider) (posthaste_jobs)")).toHaveLength(1);
});

test("each alert names metrics and labels that exist, and has a section in the docs", () => {
  const rules = alerts.groups.flatMap((group) => group.rules);
  expect(rules.length).toBeGreaterThan(5);
  for (const { alert, expr, annotations } of rules) {
    expect(faultsOf(expr)).toEqual([]);
    expect(annotations.runbook).toBe(`docs/monitoring.md#${alert.toLowerCase()}`);
    expect(page).toMatch(new RegExp(`^### ${alert}$`, "m"));
  }
});

test("the docs say what to do for each reason for which messages wait", () => {
  const [, table = ""] = /^\| Reason \| What to do \|\n\|---\|---\|\n((?:\|.*\n)+)/m.exec(page) ?? [];
  const explained = Array.from(table.matchAll(/^\| ([^|]+) \|/gm), ([, reasons = ""]) => reasons.split(", "));
  const shown = [...Object.values(laneReasons), ...Object.values(queueReasons)];
  expect(explained.flat().sort()).toEqual(shown.sort());
});

describe.skipIf(!isPromtoolInstalled)("promtool", () => {
  test("finds nothing wrong with the names and units of our metrics", async () => {
    const ours = text.split("\n").filter((line) => /^(# (HELP|TYPE) )?posthaste_/.test(line));
    expect(await promtool(["check", "metrics"], `${ours.join("\n")}\n`)).toEqual({ code: 0, output: "" });
  });

  test("accepts the alerts, and they react to what alerts.test.yaml says and to nothing else", async () => {
    const folder = join(root, "deploy/prometheus");
    const checked = await promtool(["check", "rules", join(folder, "alerts.yaml")]);
    expect(checked, checked.output).toMatchObject({ code: 0 });
    const tested = await promtool(["test", "rules", join(folder, "alerts.test.yaml")]);
    expect(tested, tested.output).toMatchObject({ code: 0 });
  });

  test("can read each expression of the dashboard", async () => {
    const folder = await mkdtemp(join(tmpdir(), "posthaste-dashboard-"));
    const rules = expressions.map((expr, at) => ({
      record: `panel_${at}`,
      expr: expr.replaceAll("$__rate_interval", "5m"),
    }));
    // JSON is YAML, too.
    await writeFile(join(folder, "rules.yaml"), JSON.stringify({ groups: [{ name: "dashboard", rules }] }));
    const checked = await promtool(["check", "rules", join(folder, "rules.yaml")]);
    await rm(folder, { recursive: true });
    expect(checked, checked.output).toMatchObject({ code: 0 });
  });
});
