/** Generates the committed files that are derived from the code. `npm run generate` writes them. */
import { readFileSync } from "node:fs";
import { mediaRoom } from "#sending/media/store.ts";
import { invitationRoom } from "#workspace/team/invitations/store.ts";
import { roleRoom } from "#workspace/team/roles/store.ts";
import { teammateRoom } from "#workspace/team/teammate-store.ts";
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
import { inboundRouteRoom } from "./inbound/routes/store.ts";
import { compactSupport } from "./mail/client-support/compact-support-data.ts";
import { shareLinkRoom } from "./overview/share-links/store.ts";
import { ownViewRoom, sharedViewRoom } from "./overview/views/store.ts";
import { settings } from "./platform/config/settings.ts";
import type { WorkspaceRowLimit } from "./platform/database/row-limit-store.ts";
import { type ErrorCode, errorTable } from "./platform/errors.ts";
import { ASSISTANTS_MAY_SEND, assistants, isGuarded } from "./platform/http/assistant-permission.ts";
import { type Endpoint, permissionOf } from "./platform/http/endpoint.ts";
import { errorCodesOf } from "./platform/http/endpoint-error-codes.ts";
import { openApiDocument } from "./platform/http/openapi.ts";
import { nilId } from "./platform/ids.ts";
import type { Limit } from "./platform/limits/limit.ts";
import { bytesText } from "./platform/limits/limit-errors.ts";
import { limits } from "./platform/limits/limits.ts";
import { version } from "./platform/version.ts";
import { autoresponderRoom } from "./sending/autoresponders/store.ts";
import { campaignRoom } from "./sending/campaigns/store.ts";
import { templateRoom } from "./sending/templates/store.ts";
import { catalogue } from "./webhooks/event-catalogue.ts";
import { webhookRoom } from "./webhooks/store.ts";
import { catalogueOf } from "./workspace/api-keys/permission-catalogue.ts";
import { apiKeyRoom } from "./workspace/api-keys/store.ts";

/** A development package, of which the service needs only the data. */
const canIEmail = new URL("../node_modules/caniemail/data/caniemail.json", import.meta.url);

/** Texts of the files by path, relative to the root of the repository. */
export function generatedFiles(endpoints: readonly Endpoint[]): ReadonlyMap<string, string> {
  const examples = JSON.parse(readFileSync(new URL("openapi-examples.json", import.meta.url), "utf8"));
  const parts = { version, examples, events: catalogue, areas };
  return new Map([
    ["openapi.json", `${JSON.stringify(openApiDocument(endpoints, parts), null, 2)}\n`],
    [".env.example", environmentFile()],
    ["docs/configuration.md", configurationPage()],
    ["docs/errors.md", errorsPage(endpoints)],
    ["docs/limits.md", limitsPage()],
    ["docs/permissions.md", permissionsPage(endpoints)],
    [
      "src/mail/client-support/client-support.json",
      compactSupport(JSON.parse(readFileSync(canIEmail, "utf8"))),
    ],
  ]);
}

/** The groups of the API reference in the order in which a reader looks for them. */
const areas = ["Sending", "Audience", "Sending identity", "Reporting", "Hygiene", "Account"];

function page(title: string, introduction: string, ...parts: string[]): string {
  const note = "<!-- Generated from the code by `npm run generate`; do not edit. -->";
  return `${[`# ${title}`, note, introduction, ...parts].join("\n\n")}\n`;
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`;
  return [line(head), line(head.map(() => "---")), ...rows.map(line)].join("\n");
}

const list = (items: readonly string[]) => items.map((item) => `- ${item}`).join("\n");
const code = (text: string) => (text === "" ? "" : `\`${text}\``);
const call = ({ method, path }: Endpoint) => code(`${method} ${path}`);

function configurationPage(): string {
  return page(
    "Configuration",
    "Settings are environment variables. They are read once at the start; an invalid value ends the start with an error message, and a name that is one letter away from that of a setting is a warning in the log. `npm run -s posthaste -- config` prints the values in use, without secrets.",
    table(
      ["Name", "Default", "Meaning"],
      Object.entries(settings).map(([name, setting]) => [
        code(name),
        code(setting.default),
        "secret" in setting ? `${setting.about} *Secret.*` : setting.about,
      ]),
    ),
  );
}

/** All settings as comments, for `compose.yaml` and for the systemd unit. */
function environmentFile(): string {
  const head = [
    "# Settings: copy this file to .env for compose.yaml, or to /etc/posthaste.env for the systemd unit. Generated from the code by",
    "# `npm run generate`; do not edit this file.",
    "# A line that begins with #NAME shows the default: remove the # to set another value. docs/configuration.md explains more.",
    "",
    "# Password of the database that compose.yaml starts.",
    "POSTGRES_PASSWORD=",
  ];
  const lines = Object.entries(settings).flatMap(([name, setting]) => [
    "",
    `# ${setting.about}`,
    `#${name}=${setting.default}`,
  ]);
  return `${[...head, ...lines].join("\n")}\n`;
}

/** All limits on the number of rows of a workspace. */
const rooms: readonly Pick<WorkspaceRowLimit, "what" | "most">[] = [
  mailingListRoom,
  segmentRoom,
  { ...customFieldRoom(null), what: "custom fields of one mailing list, and as many for all lists" },
  suppressionListRoom,
  campaignRoom,
  templateRoom,
  autoresponderRoom,
  mediaRoom,
  sendingDomainRoom,
  verifiedSenderRoom,
  trackingDomainRoom,
  sendingIpRoom,
  inboundRouteRoom,
  routingRuleRoom,
  { ...monitorRoom, what: "blacklist monitors" },
  webhookRoom,
  sharedViewRoom,
  shareLinkRoom,
  { ...ownViewRoom(nilId), what: "views of one person or API key that are not shared" },
  apiKeyRoom,
  teammateRoom,
  roleRoom,
  invitationRoom,
];

function limitsPage(): string {
  return page(
    "Limits",
    "How much of a shared resource one workspace, API key, network or mailbox may use. A network is one IPv4 address or one IPv6 /64. A refused request has no effect. The error names the limit, and `Retry-After` gives the seconds until a retry can succeed.",
    `The operator can raise these limits, which other pages describe:

- emails, validations and blacklist checks per month, and stored data: the [plan](billing.md). \`workspace set --plan\` changes it, \`PLANS_FILE\` defines plans, and a prepaid balance pays for more
- emails and validations per hour: \`workspace set --hourly-cap\`; no limit by default
- requests per second from one network: \`RATE_LIMIT\` ([configuration.md](configuration.md))
- mail to one provider or from a new address: [lanes](delivery.md) and [warm-up](routing.md)
- the size of a request body: [api.md](api.md)

The limits below are fixed.`,
    "## Limits of a workspace",
    table(
      ["Resource", "Limit"],
      rooms.map(({ what, most }) => [what, most.toLocaleString("en")]),
    ),
    "Beyond the limit, an addition is refused with 400 or 409, and the error says what to delete first. The plan limits subscribers and suppression entries.",
    "## Shared resources",
    table(
      ["Resource", "Limit", "Per", "Beyond the limit"],
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
  const names = Object.keys(errorTable) as ErrorCode[];
  const callsOf = (name: ErrorCode) =>
    endpoints.filter((endpoint) => errorCodesOf(endpoint).includes(name)).map(call);
  const isLong = (name: ErrorCode) =>
    callsOf(name).length > MOST_CALLS_IN_CELL &&
    callsOf(name).length < endpoints.length &&
    ruleFor[name] === undefined;
  const returnedBy = (name: ErrorCode) => {
    const calls = callsOf(name);
    if (calls.length === endpoints.length) return "every call";
    if (isLong(name)) return `[${calls.length} calls](#${name.toLowerCase()})`;
    return ruleFor[name] ?? (calls.join(", ") || "no call yet");
  };
  return page(
    "Errors",
    "A failure is `{ success: false, error, code }`. It has `details: [{ field, message }]` if fields are invalid, and `required_scopes` if permissions are missing. Programs should check `code`; `error` is a text for people. Quote `X-Request-Id` in a support request.",
    table(
      ["Code", "HTTP", "Meaning", "Returned by"],
      names.map((name) => [
        code(name),
        String(errorTable[name].status),
        errorTable[name].text,
        returnedBy(name),
      ]),
    ),
    "## Calls by code",
    ...names.filter(isLong).flatMap((name) => [`### ${name}`, list(callsOf(name))]),
  );
}

/** More calls than this get a list below the table. */
const MOST_CALLS_IN_CELL = 4;

const ruleFor: Partial<Record<ErrorCode, string>> = {
  INSUFFICIENT_SCOPE: "every call that needs a permission",
  SERVICE_SUSPENDED: "every call that sends or changes something, except billing",
  NOT_FOUND: "unknown paths, and ids in a path that do not belong to the workspace",
  METHOD_NOT_ALLOWED: "every path",
  PAYLOAD_TOO_LARGE: "every call with a body",
};

function permissionsPage(endpoints: readonly Endpoint[]): string {
  const { resources, wildcards, presets } = catalogueOf(endpoints);
  const callsOf = (value: string) =>
    endpoints.filter(({ needs }) => typeof needs !== "string" && permissionOf(needs) === value).map(call);
  const ofApi = resources.filter(({ resource }) => resource !== assistants.name);
  const guarded = endpoints.filter((one) => typeof one.needs !== "string" && isGuarded(one)).map(call);
  const open = endpoints.filter(({ needs }) => needs === "authenticated").map(call);
  const ofRows = endpoints
    .filter(({ needs }) => typeof needs !== "string" && needs.judgedBy === "handler")
    .map(call);
  return page(
    "Permissions",
    "An API key has permissions of the form `resource:action`. `write` does not include `read`. `GET /api-keys/permissions` returns this list from the definitions that the API enforces.",
    table(
      ["Permission", "Calls"],
      ofApi.flatMap(({ actions }) =>
        actions.flatMap(({ value }) => {
          const [first = "", ...more] = callsOf(value);
          return [[code(value), first], ...more.map((one) => ["", one])];
        }),
      ),
    ),
    "## Wildcards",
    table(
      ["Permission", "Allows"],
      [
        ...resources.map(({ wildcard, label }) => [code(wildcard), `Every action on: ${label}`]),
        ...wildcards.map(({ value, label }) => [code(value), label]),
      ],
    ),
    "## AI assistants",
    `\`${ASSISTANTS_MAY_SEND}\` lets [AI assistants](mcp.md) use the calls below, together with the permission of the call. Only a key that names it has it: no wildcard of this page includes it but \`${assistants.name}:*\`. A key or person with \`*:*\` may give it to a key. It changes nothing for programs that call the API.`,
    list(guarded),
    "## Presets",
    table(
      ["Preset", "Permissions"],
      presets.map(({ preset, values }) => [code(preset), values.map(code).join(", ")]),
    ),
    "## Calls with any valid key",
    list(open),
    "## Background jobs",
    "The permission that starts a job also applies to the job. Its read form (`subscribers:read` for an import or export) shows the job and downloads its files; its write form cancels the job. `jobs:read` shows all jobs without their files, and `jobs:write` cancels all. This applies to:",
    list(ofRows),
  );
}
