/** With what a campaign's mail was opened: opens and clicks by device, operating system and mail program. */
import { type Static, Type } from "typebox";
import { described, nullable } from "#platform/shapes.ts";
import { type Agent, describeAgent, devices } from "#tracking/describe-agent.ts";
import type { AgentCount } from "./store.ts";

const Count = Type.Integer();
const opens = described(Count, "Opens.");
const clicks = described(Count, "Clicks.");
const named = (name: string, of: string) =>
  Type.Array(
    Type.Object({
      name: nullable(Type.String({ description: `${name}; null where it is not known.` })),
      opens,
      clicks,
    }),
    { description: of },
  );

const Engagement = Type.Object(
  {
    opens: described(Count, "All opens."),
    clicks: described(Count, "All clicks."),
    devices: Type.Array(
      Type.Object({
        name: Type.Enum([...devices], {
          description:
            "Kind of the device. `unknown` also where the proxy of a mail service, such as Gmail's, hides it.",
        }),
        opens,
        clicks,
      }),
      { description: "By kind of device, the most first." },
    ),
    systems: named("Name of the operating system, such as iOS", "By operating system, the most first."),
    clients: named(
      "Mail program, mail service or browser, such as Apple Mail or Gmail",
      "By mail program or browser, the most first.",
    ),
  },
  { $id: "EngagementByClient", description: "Opens and clicks by what they were made with." },
);

export const CampaignClients = Type.Object(
  {
    people: described(Engagement, "Opens and clicks by people."),
    machines: described(Engagement, "Opens and clicks by programs, such as filters that follow every link."),
    is_complete: Type.Boolean({
      description:
        "False if the campaign has more opens or clicks than are read: the figures are those of the newest ones then.",
    }),
  },
  { $id: "CampaignClients" },
);

type Engagement = Static<typeof Engagement>;
type Amounts = Record<"opens" | "clicks", number>;

/** @param mostEvents of each type, as they were read */
export function campaignClients(
  rows: readonly AgentCount[],
  mostEvents: number,
): Static<typeof CampaignClients> {
  const isMachine = ({ type }: AgentCount) => type.startsWith("machine_");
  return {
    people: engagementOf(rows.filter((row) => !isMachine(row))),
    machines: engagementOf(rows.filter(isMachine)),
    is_complete: rows.every(({ events }) => events < mostEvents),
  };
}

function engagementOf(rows: readonly AgentCount[]): Engagement {
  const [byDevice, bySystem, byClient] = [new Sums<Agent["device"]>(), new Sums(), new Sums()];
  const add = (kind: keyof Amounts, { device, system, client }: Agent, times: number) => {
    byDevice.add(device, kind, times);
    bySystem.add(system, kind, times);
    byClient.add(client, kind, times);
  };
  const all = { opens: 0, clicks: 0 };
  for (const [type, ofType] of Map.groupBy(rows, (row) => row.type)) {
    const isOpen = type.endsWith("opened");
    const kind = isOpen ? "opens" : "clicks";
    all[kind] = ofType[0]?.total ?? 0;
    let rest = all[kind];
    for (const { user_agent, times } of ofType) {
      add(kind, describeAgent(user_agent ?? "", isOpen ? "opened" : "clicked"), times);
      rest -= times;
    }
    // User-Agents beyond those that were read, each of them rare.
    if (rest > 0) add(kind, { device: "unknown", system: null, client: null }, rest);
  }
  return {
    ...all,
    devices: byDevice.sorted(),
    systems: bySystem.sorted(),
    clients: byClient.sorted(),
  };
}

/** Opens and clicks by name. */
class Sums<Name extends string | null = string | null> {
  readonly #byName = new Map<Name, Amounts>();

  add(name: Name, kind: keyof Amounts, times: number): void {
    const sums = this.#byName.get(name) ?? { opens: 0, clicks: 0 };
    sums[kind] += times;
    this.#byName.set(name, sums);
  }

  /** The most first. */
  sorted(): { name: Name; opens: number; clicks: number }[] {
    const size = ({ opens, clicks }: Amounts) => opens + clicks;
    return [...this.#byName]
      .map(([name, sums]) => ({ name, ...sums }))
      .toSorted((a, b) => size(b) - size(a) || String(a.name).localeCompare(String(b.name), "en"));
  }
}
