/**
 * The ceremony of sending: to whom, from whom, when, how long, at what cost, and what the check says. Sending begins ten seconds
 * after the button, on the service's side, so that stopping loses nothing, and closing the page changes nothing.
 */
import type { Data } from "@posthaste/client";
import { useQuery } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import { useAct } from "../../../api/act.ts";
import { mayCall, usePlace } from "../../../api/session.tsx";
import { Button } from "../../../parts/button.tsx";
import { Dialog } from "../../../parts/dialog.tsx";
import { Failure } from "../../../parts/failure.tsx";
import { counted } from "../../../parts/numbers.ts";
import { Audience, Cost, Duration } from "./check-facts.tsx";
import { CheckFindings, type Finding } from "./check-findings.tsx";
import { InboxRow } from "./inbox-row.tsx";
import { inZone, momentOf, wallTime } from "./wall-time.ts";
import { type When, WhenChoice } from "./when-choice.tsx";

/** Only for those who may send; others ask for approval in the editor. */
interface Props {
  readonly campaignId: string;
  readonly onClose: () => void;
  readonly onSent: () => void;
  /** Leads to the place of a finding in the draft. Without it the sheet closes. */
  readonly onFinding?: (finding: Finding) => void;
}

type Campaign = Data<"getCampaign">;

const HOLD_SECONDS = 10;

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
        <Sheet {...props} campaign={campaign.data} />
      ) : (
        <div className="h-96" />
      )}
    </Dialog>
  );
}

function Sheet({ campaign, onClose, onSent, onFinding }: Props & { readonly campaign: Campaign }) {
  const { api, workspace } = usePlace();
  const { id, name, timezone } = campaign;
  const [when, setWhen] = useState<When>(() => firstChoice(campaign));
  const { data, error, refetch } = useQuery({
    // Not the key of the editor's check, whose answer has no clock.
    queryKey: ["campaign-check", workspace.id, id, campaign.revision, "to send"],
    queryFn: async ({ signal }) => {
      const check = await api.checkCampaign({ id, signal });
      // How far this clock is from that of the service, which decides when sending begins.
      return { check, skew: Date.parse(check.checked_at) - Date.now() };
    },
    gcTime: 0,
  });
  const check = data?.check;
  const people = check?.audience?.will_send;
  const send = useAct({
    run: () => {
      const soon = Date.now() + (data?.skew ?? 0) + HOLD_SECONDS * 1_000;
      const scheduled_at = when.isLater ? when.wall : new Date(soon).toISOString();
      return api.sendCampaign({ id, body: { scheduled_at } });
    },
    changes: ["campaign", "campaigns", "campaign-progress"],
    done: when.isLater ? `${name} is scheduled` : `${name} is sent in ${HOLD_SECONDS} seconds`,
    onDone: onSent,
  });
  const moment = momentOf(when.wall, timezone);
  return (
    <div className="flex flex-col gap-5">
      <InboxRow campaign={campaign} subject={check?.subject} previewText={check?.preview_text} />
      {error && <Failure error={error} onRetry={() => void refetch()} />}
      <dl className="grid gap-x-6 gap-y-3 sm:grid-cols-[96px_minmax(0,1fr)]">
        <Line name="To">
          <Audience campaign={campaign} check={check} hasFailed={error !== null} />
        </Line>
        <Line name="When">
          <WhenChoice value={when} onChange={setWhen} timezone={timezone} />
        </Line>
        <Line name="Takes">
          <Duration check={check} hasFailed={error !== null} />
        </Line>
        {mayCall(workspace, "getBillingOverview") && (
          <Line name="Costs">
            <Cost check={check} hasFailed={error !== null} />
          </Line>
        )}
        <Line name="Check">
          <CheckFindings
            check={check}
            hasFailed={error !== null}
            onFinding={onFinding ?? (() => onClose())}
          />
        </Line>
      </dl>
      {campaign.approval_requested_at && (
        <p className="border-l-2 border-info px-4 py-1">
          {campaign.approval_requested_by} asks for approval
          {campaign.approval_message ? `: “${campaign.approval_message}”` : "."}
        </p>
      )}
      {send.error && <Failure error={send.error} />}
      <div className="flex flex-wrap items-center justify-end gap-x-4 gap-y-2 border-t border-line pt-4">
        <p className="min-w-52 flex-1 text-small text-muted">
          {when.isLater
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
          {when.isLater ? scheduleText(moment, timezone) : sendText(people)}
        </Button>
      </div>
    </div>
  );
}

function sendText(people: number | undefined): string {
  return people === undefined ? "Send" : `Send to ${counted(people, "person", "people")}`;
}

/** @param moment undefined while the time is not a whole one */
function scheduleText(moment: number | undefined, zone: string): string {
  return moment === undefined ? "Schedule" : `Schedule for ${inZone(moment, zone)}`;
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
function firstChoice({ scheduled_at, timezone }: Campaign): When {
  const planned = scheduled_at === null ? 0 : Date.parse(scheduled_at);
  const isLater = planned > Date.now();
  const tomorrow = Date.now() + 86_400_000;
  return { isLater, wall: wallTime(isLater ? planned : tomorrow - (tomorrow % 3_600_000), timezone) };
}
