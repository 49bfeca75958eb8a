/** What has to be known before sending: the check, the time, and how the mail leaves. */
import { useQuery } from "@tanstack/react-query";
import { useLists } from "../../../api/lists.ts";
import { mayCall, usePlace } from "../../../api/session.tsx";
import { Choice } from "../../../parts/choice.tsx";
import { Field } from "../../../parts/field.tsx";
import { LongField } from "../../../parts/long-field.tsx";
import { Segmented } from "../../../parts/segmented.tsx";
import { Checkbox } from "../../../parts/toggle.tsx";
import { type Check, type Finding, Findings } from "../findings.tsx";
import { WhenChoice } from "../when-choice.tsx";
import { type Draft, textOrNull } from "./draft.ts";
import type { OpenDraft } from "./use-draft.ts";

interface Props {
  readonly open: OpenDraft;
  readonly check: Check | undefined;
  readonly isChecking: boolean;
  readonly onJump: (finding: Finding) => void;
}

export function SendStep({ open, check, isChecking, onJump }: Props) {
  const isSms = open.campaign.message_type === "sms";
  return (
    <div className="flex max-w-2xl flex-col gap-6">
      <div>
        <WhenChoice
          value={open.draft.scheduled_at}
          onChange={(scheduled_at) => open.edit({ scheduled_at })}
          timezone={open.campaign.timezone}
        />
      </div>
      {!isSms && (
        <details className="border-t border-line pt-4">
          <summary className="w-fit cursor-default rounded font-medium">Tracking, route and headers</summary>
          <div className="mt-4 flex flex-col gap-5">
            <Tracking {...open} />
            <Route {...open} />
            <Headers {...open} />
          </div>
        </details>
      )}
      {/* At the end, because what is found moves what is below. */}
      <div className="border-t border-line pt-4">
        {check && <Findings check={check} isChecking={isChecking} onJump={onJump} />}
        {!check && <p className="min-h-8 text-muted">Checking …</p>}
      </div>
    </div>
  );
}

type Tracked = "list" | "on" | "off";
const tracked: Readonly<Record<Tracked, boolean | null>> = { list: null, on: true, off: false };

function Tracking({ draft, edit }: OpenDraft) {
  const { api, workspace } = usePlace();
  const lists = useLists();
  const list = lists?.find(({ id }) => id === draft.mailing_list_id);
  const { data: domains } = useQuery({
    queryKey: ["tracking-domains", workspace.id],
    queryFn: ({ signal }) => api.listTrackingDomains({ signal }),
    enabled: mayCall(workspace, "listTrackingDomains"),
  });
  const choice = (label: string, name: "enable_open_tracking" | "enable_click_tracking") => (
    <Segmented
      label={label}
      value={(Object.keys(tracked) as Tracked[]).find((one) => tracked[one] === draft[name]) ?? "list"}
      onChange={(value) => edit({ [name]: tracked[value] } as Partial<Draft>)}
      segments={[
        { id: "list", name: list ? `As the list: ${list[name] ? "on" : "off"}` : "As the list" },
        { id: "on", name: "On" },
        { id: "off", name: "Off" },
      ]}
    />
  );
  return (
    <div className="grid gap-4 sm:grid-cols-2">
      {choice("Open tracking", "enable_open_tracking")}
      {choice("Click tracking", "enable_click_tracking")}
      {domains && domains.length > 0 && (
        <Choice
          label="Domain of tracked links"
          selectedKey={draft.url_domain_id ?? USUAL}
          onSelectionChange={(id) => edit({ url_domain_id: id === USUAL ? null : String(id) })}
          options={[
            { id: USUAL, name: "The usual one" },
            ...domains.map(({ id, domain, is_verified }) => ({
              id,
              name: domain,
              ...(!is_verified && { description: "Not verified" }),
            })),
          ]}
        />
      )}
    </div>
  );
}

const USUAL = "usual";

/** The usual route, a routing rule, or one sending IP. */
function Route({ draft, edit }: OpenDraft) {
  const { api, workspace } = usePlace();
  const rules = useQuery({
    queryKey: ["routing-rules", workspace.id],
    queryFn: ({ signal }) => api.listRoutingRules({ signal }),
    enabled: mayCall(workspace, "listRoutingRules"),
  });
  const ips = useQuery({
    queryKey: ["sending-ips", workspace.id],
    queryFn: ({ signal }) => api.listSendingIps({ signal }),
    enabled: mayCall(workspace, "listSendingIps"),
  });
  const options = [
    { id: USUAL, name: "The usual route" },
    ...(rules.data ?? []).map(({ id, name }) => ({ id: `rule ${id}`, name, description: "Routing rule" })),
    ...(ips.data ?? []).map(({ ip, hostname }) => ({ id: `ip ${ip}`, name: ip, description: hostname })),
  ];
  const chosen =
    draft.routing_rule_id !== null
      ? `rule ${draft.routing_rule_id}`
      : draft.virtual_mta_ip !== null
        ? `ip ${draft.virtual_mta_ip}`
        : USUAL;
  if (options.length === 1 && chosen === USUAL) return null;
  return (
    <Choice
      label="Route"
      selectedKey={chosen}
      onSelectionChange={(key) => {
        const [kind, id = null] = String(key).split(" ");
        edit({
          routing_rule_id: kind === "rule" ? id : null,
          virtual_mta_ip: kind === "ip" ? id : null,
        });
      }}
      options={options.some(({ id }) => id === chosen) ? options : [...options, { id: chosen, name: chosen }]}
    />
  );
}

function Headers({ draft, edit }: OpenDraft) {
  return (
    <>
      <div className="flex flex-col gap-2">
        <Checkbox
          isSelected={draft.use_custom_headers}
          onChange={(use_custom_headers) => edit({ use_custom_headers })}
        >
          Add headers of your own
        </Checkbox>
        {draft.use_custom_headers && (
          <LongField
            label="Headers"
            hint="One on each line: “Name: value”. Merge tags are not replaced here."
            rows={3}
            isMono
            value={draft.custom_headers ?? ""}
            onChange={(text) => edit({ custom_headers: textOrNull(text) })}
          />
        )}
      </div>
      <div className="grid gap-4 sm:grid-cols-2">
        <Field
          label="Copies of bounces"
          type="email"
          hint="Gets a copy of each report of a failed delivery."
          value={draft.bounce_email ?? ""}
          onChange={(text) => edit({ bounce_email: textOrNull(text.trim()) })}
        />
        <Field
          label="Return path of"
          type="email"
          hint="An address of the domain whose own return path is used."
          value={draft.sender_email ?? ""}
          onChange={(text) => edit({ sender_email: textOrNull(text.trim()) })}
        />
      </div>
    </>
  );
}
