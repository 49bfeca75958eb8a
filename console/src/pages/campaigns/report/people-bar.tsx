/** Every person of the audience in one place of one bar: what the mail to them came to, or why they get none. */
import { AddingBar, type BarPart } from "../../../parts/adding-bar.tsx";
import { counted, countText } from "../../../parts/numbers.ts";
import { ExcludedReasons } from "../send/excluded-reasons.tsx";
import { type RecipientFilter, RecipientsLink } from "./recipients-link.tsx";
import type { Progress } from "./use-progress.ts";

interface Props {
  readonly progress: Progress;
  /** The list that the campaign goes to, if it goes to one. */
  readonly listId: string | null;
}

export function PeopleBar({ progress, listId }: Props) {
  const { counts, excluded, total, is_total_final, complained } = progress;
  const link = (count: number, filter: RecipientFilter, who: string) => (
    <RecipientsLink campaignId={progress.id} count={count} filter={filter} who={who} />
  );
  const unsent = counts.preparing + counts.waiting;
  const parts: readonly BarPart[] = [
    {
      name: "Delivered",
      count: counts.delivered,
      look: { shape: "●", tone: "text-good" },
      fill: "bg-good",
      number: link(counts.delivered, { status: "delivered" }, "people whose server accepted it"),
      detail: complained > 0 && (
        <>{link(complained, { status: "complained" }, "people who reported it as spam")} reported as spam</>
      ),
    },
    {
      name: "Being sent",
      count: counts.in_delivery,
      look: { shape: "◐", tone: "text-info" },
      fill: "bg-info",
    },
    {
      name: "Waiting",
      count: unsent,
      look: { shape: "○", tone: "text-muted" },
      fill: "bg-control/50",
      number:
        counts.preparing === 0 ? link(unsent, { status: "queued" }, "people whose message waits") : undefined,
      detail: counts.preparing > 0 ? `${countText(counts.preparing)} still to prepare` : undefined,
    },
    {
      name: "Deferred",
      count: counts.deferred,
      look: { shape: "◐", tone: "text-warning" },
      fill: "bg-warning",
      number: link(counts.deferred, { status: "deferred" }, "people whose server asked to try later"),
      detail: "tried again",
    },
    {
      name: "Bounced",
      count: counts.bounced,
      look: { shape: "▲", tone: "text-bad" },
      fill: "bg-bad",
      number: link(counts.bounced, { status: "bounced" }, "people whose server refused it"),
    },
    {
      name: "Failed",
      count: counts.failed,
      look: { shape: "▲", tone: "text-bad" },
      fill: "bg-bad/70",
      number: link(counts.failed, { status: "failed" }, "people whom it could not be sent to"),
    },
    {
      name: "Suppressed since",
      count: counts.suppressed,
      look: { shape: "■", tone: "text-muted" },
      fill: "bg-control",
      number: link(
        counts.suppressed,
        { status: "suppressed" },
        "people suppressed before their message left",
      ),
    },
    {
      name: "Cancelled",
      count: counts.cancelled,
      look: { shape: "■", tone: "text-muted" },
      fill: "bg-control",
      number: link(counts.cancelled, { status: "cancelled" }, "people whose message was cancelled"),
    },
    {
      name: "Left out",
      count: excluded.total,
      look: { shape: "■", tone: "text-muted" },
      fill: "bg-line",
      detail: <ExcludedReasons excluded={excluded} listId={listId} />,
    },
  ];
  const people = total + excluded.total;
  return (
    <>
      <AddingBar label={`${counted(people, "person", "people")} of the audience`} parts={parts} />
      <p className="mt-3 text-small text-muted">
        Together {is_total_final ? "" : "about "}
        {counted(people, "person", "people")}: the whole audience.
      </p>
    </>
  );
}
