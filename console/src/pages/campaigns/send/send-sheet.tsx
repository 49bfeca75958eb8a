/**
 * The ceremony of sending: to whom, from whom, when, how long, at what cost, and what the check says. Sending begins ten seconds
 * after the button, on the service's side, so that stopping loses nothing, and closing the page changes nothing.
 */
import { type Data, PosthasteError } from "@posthaste/client";
import { useQuery } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import { useAct } from "../../../api/act.ts";
import { mayCall, usePlace } from "../../../api/session.tsx";
import { Button } from "../../../parts/button.tsx";
import { Dialog } from "../../../parts/dialog.tsx";
import { Failure } from "../../../parts/failure.tsx";
import { counted } from "../../../parts/numbers.ts";
import { type Finding, Findings } from "../findings.tsx";
import { InboxLine } from "../inbox-line.tsx";
import { inZone } from "../times.ts";
import { useCheck } from "../use-check.ts";
import { WhenChoice } from "../when-choice.tsx";
import { Audience, Cost, Duration } from "./check-facts.tsx";

/** Only for those who may send; others ask for approval in the editor. */
interface Props {
  readonly campaignId: string;
  readonly onClose: () => void;
  readonly onSent: () => void;
  /** Leads to the place of a finding in the draft, where it can be changed. */
  readonly onFinding?: (finding: Finding) => void;
}

type Campaign = Data<"getCampaign">;

const HOLD_SECONDS = 10;
const SHOWN_FINDINGS = 3;

export function SendSheet(props: Props) {
  const { api, workspace } = usePlace();
  const { campaignId: id, onClose } = props;
  const campaign = useQuery({
    queryKey: ["campaign", workspace.id, id, "to send"],
    queryFn: ({ signal }) => api.getCampaign({ id, query: { without: "content" }, signal }),
    gcTime: 0,
  });
  return (
    <Dialog title={`Send ${campaign.data?.name ?? "the campaign"}`} isOpen isWide onClose={onClose}>
      {campaign.error ? (
        <Failure error={campaign.error} onRetry={() => void campaign.refetch()} />
      ) : campaign.data ? (
        <Sheet {...props} campaign={campaign.data} onChanged={() => void campaign.refetch()} />
      ) : (
        <div className="h-96" />
      )}
    </Dialog>
  );
}

interface SheetProps extends Props {
  readonly campaign: Campaign;
  /** The campaign is no longer what the sheet shows. */
  readonly onChanged: () => void;
}

function Sheet({ campaign, onClose, onSent, onFinding, onChanged }: SheetProps) {
  const { api, workspace } = usePlace();
  const { id, name, timezone } = campaign;
  const [when, setWhen] = useState(() => plannedTime(campaign));
  const { check, skew, error, isChecking, again } = useCheck(campaign, campaign.revision, {
    isWriting: false,
  });
  const isMail = campaign.message_type === "email";
  const people = check?.audience?.will_send;
  const send = useAct({
    run: () => {
      const soon = Date.now() + skew + HOLD_SECONDS * 1_000;
      const scheduled_at = when ?? new Date(soon).toISOString();
      // What is sent is what the person has seen here.
      const headers = { "If-Match": `"${campaign.revision}"` };
      return api.sendCampaign({ id, body: { scheduled_at }, headers });
    },
    changes: ["campaign", "campaigns", "campaign-progress"],
    done: when ? `${name} is scheduled` : `${name} is sent in ${HOLD_SECONDS} seconds`,
    onDone: onSent,
  });
  const isChanged = send.error instanceof PosthasteError && send.error.status === 412;
  return (
    <div className="flex flex-col gap-5">
      {isMail && (
        <InboxLine
          from={campaign.from_name ?? campaign.from_email}
          subject={check?.subject ?? campaign.subject}
          preview={check?.preview_text ?? ""}
        />
      )}
      {error && <Failure error={error} onRetry={again} />}
      <dl className="grid gap-x-6 gap-y-3 sm:grid-cols-[96px_minmax(0,1fr)]">
        <Line name="To">
          <Audience campaign={campaign} check={check} hasFailed={error !== null} />
        </Line>
        <Line name="When">
          <WhenChoice value={when} onChange={setWhen} timezone={timezone} isBare />
        </Line>
        {isMail && (
          <>
            <Line name="Takes">
              <Duration check={check} hasFailed={error !== null} />
            </Line>
            {mayCall(workspace, "getBillingOverview") && (
              <Line name="Costs">
                <Cost check={check} hasFailed={error !== null} />
              </Line>
            )}
          </>
        )}
        <Line name="Check">
          {check ? (
            <Findings check={check} isChecking={isChecking} onJump={onFinding} most={SHOWN_FINDINGS} />
          ) : (
            <p className="min-h-8 text-muted">{error ? "Did not run" : "Checking …"}</p>
          )}
        </Line>
      </dl>
      {campaign.approval_requested_at && (
        <p className="border-l-2 border-info px-4 py-1">
          {campaign.approval_requested_by} asks for approval
          {campaign.approval_message ? `: “${campaign.approval_message}”` : "."}
        </p>
      )}
      {isChanged ? (
        <div role="alert" className="border-l-2 border-warning px-4 py-2">
          <p className="mb-2 font-medium">
            The campaign was changed in another window since you opened this. Nothing is sent.
          </p>
          <Button
            onPress={() => {
              send.reset();
              onChanged();
            }}
          >
            Show it as it is now
          </Button>
        </div>
      ) : (
        send.error && <Failure error={send.error} />
      )}
      <div className="flex flex-wrap items-center justify-end gap-x-4 gap-y-2 border-t border-line pt-4">
        <p className="min-w-52 flex-1 text-small text-muted">
          {when
            ? "Until then it can be stopped, and is a draft again, as it is now."
            : `It begins ${HOLD_SECONDS} seconds after the button. “Stop and edit” makes it a draft again, as it is now. Nothing leaves before, and closing this page stops nothing.`}
        </p>
        <Button onPress={onClose}>Back to the draft</Button>
        <Button
          kind="primary"
          className="h-auto! min-h-11 py-1 whitespace-normal!"
          onPress={() => send.mutate()}
          isPending={send.isPending}
        >
          {when ? `Schedule for ${inZone(when, timezone)}` : sendText(people)}
        </Button>
      </div>
    </div>
  );
}

function sendText(people: number | undefined): string {
  return people === undefined ? "Send" : `Send to ${counted(people, "person", "people")}`;
}

function Line({ name, children }: { readonly name: string; readonly children: ReactNode }) {
  return (
    <>
      <dt className="pt-0.5 text-muted">{name}</dt>
      <dd className="min-w-0">{children}</dd>
    </>
  );
}

/** The time that the draft names, if it is still to come. */
function plannedTime({ scheduled_at }: Campaign): string | null {
  return scheduled_at !== null && Date.parse(scheduled_at) > Date.now() ? scheduled_at : null;
}
