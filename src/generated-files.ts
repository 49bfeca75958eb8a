/** The committed files that are read from the code: they change with it, by `npm run generate`, and never by hand. */
import { readFileSync } from "node:fs";
import { customFieldRoom } from "./audience/custom-fields/store.ts";
import { mailingListRoom } from "./audience/mailing-lists/store.ts";
import { segmentRoom } from "./audience/segments/store.ts";
import { suppressionListRoom } from "./audience/suppression-lists/store.ts";
import { monitorRoom } from "./hygiene/blacklist/monitor-store.ts";
import { routingRuleRoom } from "./identity/routing-rules/store.ts";
import { sendingDomainRoom } from "./identity/sending-domains/store.ts";
import { sendingIpRoom } from "./identity/sending-ips/store.ts";
import { trackingDomainRoom } from "./identity/tracking-domains/store.ts";
import { verifiedSenderRoom } from "./identity/verified-senders/store.ts";
import { settings } from "./platform/config/settings.ts";
import type { WorkspaceRowLimit } from "./platform/database/row-limit-store.ts";
import { type ErrorCode, errorTable } from "./platform/errors.ts";
import type { Endpoint } from "./platform/http/endpoint.ts";
import { permissionOf } from "./platform/http/endpoint.ts";
import { errorCodesOf } from "./platform/http/error-codes.ts";
import { openApiDocument } from "./platform/http/openapi.ts";
import type { Limit } from "./platform/limits/limit.ts";
import { bytesText } from "./platform/limits/limit-errors.ts";
import { limits } from "./platform/limits/limits.ts";
import { autoresponderRoom } from "./sending/autoresponders/store.ts";
import { campaignRoom } from "./sending/campaigns/store.ts";
import { webhookRoom } from "./webhooks/store.ts";
import { catalogueOf } from "./workspace/api-keys/permission-catalogue.ts";
import { apiKeyRoom } from "./workspace/api-keys/store.ts";

/** Text by path, relative to the root of the repository. */
export function generatedFiles(endpoints: readonly Endpoint[]): ReadonlyMap<string, string> {
  const { version } = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8"));
  return new Map([
    ["openapi.json", `${JSON.stringify(openApiDocument(endpoints, { version }), null, 2)}\n`],
    ["docs/configuration.md", configurationPage()],
    ["docs/errors.md", errorsPage(endpoints)],
    ["docs/limits.md", limitsPage()],
    ["docs/permissions.md", permissionsPage(endpoints)],
  ]);
}

function page(title: string, introduction: string, ...parts: string[]): string {
  const note = "<!-- Generated from the code by `npm run generate`; do not edit. -->";
  return `${[`# ${title}`, note, introduction, ...parts].join("\n\n")}\n`;
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`;
  return [line(head), line(head.map(() => "---")), ...rows.map(line)].join("\n");
}

const code = (text: string) => (text === "" ? "" : `\`${text}\``);
const call = ({ method, path }: Endpoint) => code(`${method} ${path}`);

function configurationPage(): string {
  return page(
    "Configuration",
    "Environment variables, read once at start; a wrong one ends the start with a sentence that says why. `npm run -s posthaste -- config` prints what is in force. A secret is never printed.",
    table(
      ["Name", "Default", "What it is"],
      Object.entries(settings).map(([name, setting]) => [
        code(name),
        code(setting.default),
        "secret" in setting ? `${setting.about} *Secret.*` : setting.about,
      ]),
    ),
  );
}

/** Every bound on the rows of a workspace. */
const rooms: readonly Pick<WorkspaceRowLimit, "what" | "most">[] = [
  mailingListRoom,
  segmentRoom,
  { ...customFieldRoom(null), what: "custom fields of one mailing list, and as many of all lists" },
  suppressionListRoom,
  campaignRoom,
  autoresponderRoom,
  sendingDomainRoom,
  verifiedSenderRoom,
  trackingDomainRoom,
  sendingIpRoom,
  routingRuleRoom,
  { ...monitorRoom, what: "blacklist monitors" },
  webhookRoom,
  apiKeyRoom,
];

function limitsPage(): string {
  return page(
    "Limits",
    "What one workspace, API key, network or mailbox may have of a resource that others use too. A network is one IPv4 address or one IPv6 /64. A refusal names the limit and, in `Retry-After`, the seconds until there is room again; nothing of the refused request was done.",
    `Some limits are elsewhere, and the operator can raise them:

- emails, validations and blacklist checks of a month, and what a workspace stores: its [plan](billing.md), which \`workspace set --plan\` changes and \`PLANS_FILE\` defines; a prepaid balance covers more;
- emails and validations of an hour: \`workspace set --hourly-cap\`, none unless set;
- requests of one network in a second: \`RATE_LIMIT\` ([configuration.md](configuration.md));
- mail to one provider or from a new address: [lanes](delivery.md) and [warm-up](routing.md); the size of a body: [api.md](api.md).

The limits below are fixed.`,
    "## What a workspace may have",
    table(
      ["What", "Most"],
      rooms.map(({ what, most }) => [what, most.toLocaleString("en")]),
    ),
    "An addition beyond it is refused with 400 or 409, which says what to delete first. Subscribers and suppression entries are limited by the plan.",
    "## What is shared",
    table(
      ["What", "Most", "Per", "Beyond it"],
      Object.values<Limit>(limits).map(({ what, scope, most, unit, per, beyond }) => [
        what,
        unit === "bytes" ? bytesText(most) : most.toLocaleString("en"),
        per === undefined ? `${scope}, at one time` : `${scope} and ${per}`,
        beyond,
      ]),
    ),
  );
}

function errorsPage(endpoints: readonly Endpoint[]): string {
  return page(
    "Errors",
    "A failure is `{ success: false, error, code }`, with `details: [{ field, message }]` where fields were refused and `required_scopes` where permissions are missing. Decide by `code`; `error` is for people. Quote `X-Request-Id` when you ask about one.",
    table(
      ["Code", "HTTP", "Meaning", "Answered by"],
      (Object.keys(errorTable) as ErrorCode[]).map((name) => [
        code(name),
        String(errorTable[name].status),
        errorTable[name].text,
        whoAnswers(name, endpoints),
      ]),
    ),
  );
}

/** A rule where there is one, the calls by name where they are few. */
function whoAnswers(name: ErrorCode, endpoints: readonly Endpoint[]): string {
  const calls = endpoints.filter((endpoint) => errorCodesOf(endpoint).includes(name)).map(call);
  if (calls.length === endpoints.length) return "every call";
  return ruleFor[name] ?? (calls.join(", ") || "no call yet");
}

const ruleFor: Partial<Record<ErrorCode, string>> = {
  INSUFFICIENT_SCOPE: "every call that needs a permission",
  SERVICE_SUSPENDED: "every call that sends or changes something, but for billing",
  NOT_FOUND: "every path that is not there, and every id in a path that is not this workspace's",
  METHOD_NOT_ALLOWED: "every path",
  PAYLOAD_TOO_LARGE: "every call with a body",
};

function permissionsPage(endpoints: readonly Endpoint[]): string {
  const { resources, wildcards, presets } = catalogueOf(endpoints);
  const callsOf = (value: string) =>
    endpoints.filter(({ needs }) => needs !== "authenticated" && permissionOf(needs) === value).map(call);
  const open = endpoints.filter(({ needs }) => needs === "authenticated").map(call);
  const ofRows = endpoints
    .filter(({ needs }) => needs !== "authenticated" && needs.judgedBy === "handler")
    .map(call);
  return page(
    "Permissions",
    "A key holds permissions of the form `resource:action`. `GET /api-keys/permissions` answers this list from the definitions that the API enforces; `write` does not imply `read`.",
    table(
      ["Permission", "What it allows"],
      resources.flatMap(({ actions }) =>
        actions.map(({ value }) => [code(value), callsOf(value).join(", ")]),
      ),
    ),
    "## Wildcards",
    table(
      ["Permission", "What it allows"],
      [
        ...resources.map(({ wildcard, label }) => [code(wildcard), `Every action on: ${label}`]),
        ...wildcards.map(({ value, label }) => [code(value), label]),
      ],
    ),
    "## Presets",
    table(
      ["Preset", "Permissions"],
      presets.map(({ preset, values }) => [code(preset), values.map(code).join(", ")]),
    ),
    `Any valid key may call ${open.join(", ")}.`,
    `A background job is governed by what started it: with the read form of that permission (\`subscribers:read\` for an import or export) it is seen and its files are fetched, with the write form it is cancelled; \`jobs:read\` shows all jobs without their files, \`jobs:write\` cancels all. The calls are ${ofRows.join(", ")}.`,
  );
}
