/** Where the campaign is: in a sentence, with how fast it is, why it is not faster, and what can be done. */
import type { Data } from "@posthaste/client";
import { type ReactNode, useEffect, useState } from "react";
import { Fact, Facts } from "../../../parts/facts.tsx";
import { counted, countText } from "../../../parts/numbers.ts";
import { Time, useZone } from "../../../parts/time.tsx";
import { durationText, inZone, pastOf } from "../times.ts";
import { CampaignActs } from "./campaign-acts.tsx";
import type { Progress } from "./use-progress.ts";

interface Props {
  readonly campaign: Data<"getCampaign">;
  readonly progress: Progress;
  readonly asOf: number | undefined;
}

export function StateSection({ campaign, progress, asOf }: Props) {
  const zone = useZone();
  return (
    <section aria-label="State" className="flex flex-col gap-4 pb-5">
      <p className="text-[17px] leading-6">
        <Story campaign={campaign} progress={progress} />
      </p>
      {asOf !== undefined && (
        <p role="status" className="text-warning">
          The service does not answer. These figures are as of{" "}
          {new Date(asOf).toLocaleTimeString("en-GB", { timeZone: zone })}.
        </p>
      )}
      {progress.status === "sending" && <Pace progress={progress} />}
      <CampaignActs campaign={campaign} progress={progress} />
    </section>
  );
}

function Story({ campaign, progress }: Omit<Props, "asOf">): ReactNode {
  const { counts, total, attempted, limited_by, completed_at } = progress;
  const sent_at = progress.sent_at ?? campaign.sent_at;
  const unsent = counts.preparing + counts.waiting + counts.in_delivery;
  switch (progress.status) {
    case "scheduled":
      return <Scheduled campaign={campaign} people={total} />;
    case "sending":
      return (
        <>
          Sending: {countText(attempted)} of {counted(total, "message")} have had their first attempt.
        </>
      );
    case "paused":
      return (
        <>
          Paused
          {campaign.paused_at && (
            <>
              {" "}
              <Time at={pastOf(campaign.paused_at)} />
            </>
          )}{" "}
          after {countText(attempted)} of {counted(total, "message")}. {limited_by?.text}
        </>
      );
    case "cancelled":
      return (
        <>
          Cancelled
          {completed_at && (
            <>
              {" "}
              <Time at={completed_at} />
            </>
          )}
          .{" "}
          {attempted === 0
            ? "Nothing was sent."
            : `${countText(attempted)} of ${counted(total, "message")} had been sent.`}
        </>
      );
    default:
      return (
        <>
          Sent to {counted(total, "person", "people")}
          {sent_at && (
            <>
              {" "}
              <Time at={sent_at} />
            </>
          )}
          .
          {sent_at && completed_at && (
            <> It took {durationText((Date.parse(completed_at) - Date.parse(sent_at)) / 1_000)}.</>
          )}
          {unsent + counts.deferred > 0 &&
            ` ${counted(counts.deferred, "message")} ${counts.deferred === 1 ? "is" : "are"} tried again.`}
        </>
      );
  }
}

/** How fast it is and why not faster. */
function Pace({
  progress: { rate_per_minute, eta, limited_by, last_deferral },
}: {
  readonly progress: Progress;
}) {
  return (
    <Facts>
      <Fact name="Rate">{countText(rate_per_minute)} a minute</Fact>
      <Fact name="Last first attempt">{eta ? <Time at={eta} /> : "Not known while nothing moves"}</Fact>
      <Fact name="Why not faster">
        <span className="whitespace-normal">
          {limited_by?.text ?? "Nothing holds it back: delivery workers and receiving servers set the pace."}
        </span>
      </Fact>
      {last_deferral && (
        <Fact name="Last deferral">
          <span className="font-mono text-small break-words whitespace-normal">
            {[last_deferral.domain, last_deferral.text ?? last_deferral.code].filter(Boolean).join(": ")}
          </span>
        </Fact>
      )}
    </Facts>
  );
}

function Scheduled({
  campaign,
  people,
}: {
  readonly campaign: Data<"getCampaign">;
  readonly people: number;
}) {
  const own = useZone();
  const { scheduled_at, timezone } = campaign;
  const seconds = useSecondsUntil(scheduled_at);
  if (scheduled_at === null) return "Waits for its time.";
  if (seconds <= 0) return "Sending begins now.";
  if (seconds < 60) {
    return (
      <>
        Sending to about {counted(people, "person", "people")} begins in{" "}
        <span role="timer">{counted(seconds, "second")}</span>.
      </>
    );
  }
  return (
    <>
      Goes to about {counted(people, "person", "people")} on {inZone(scheduled_at, timezone)}
      {own !== timezone && <>, {inZone(scheduled_at, own)} for you</>}: in {durationText(seconds)}.
    </>
  );
}

function useSecondsUntil(time: string | null): number {
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 1_000);
    return () => clearInterval(timer);
  }, []);
  return time === null ? 0 : Math.max(0, Math.ceil((Date.parse(time) - now) / 1_000));
}
