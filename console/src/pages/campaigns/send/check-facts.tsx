/** What the check says of the audience, the time and the cost, each in a sentence. */
import type { Data } from "@posthaste/client";
import { counted, countText } from "../../../parts/numbers.ts";
import { durationText } from "../times.ts";
import { ExcludedReasons } from "./excluded-reasons.tsx";

type Check = Data<"checkCampaign">;

interface Props {
  /** Undefined while it runs. */
  readonly check: Check | undefined;
  readonly hasFailed: boolean;
}

export function Audience({ campaign, check, hasFailed }: Props & { readonly campaign: Data<"getCampaign"> }) {
  const { mailing_list_name, segment_name, segment_conditions, mailing_list_id } = campaign;
  const of = segment_name ?? mailing_list_name;
  if (!check) return <Pending text={hasFailed ? "Not known" : "Counting people …"} lines={2} />;
  const { audience, unchecked } = check;
  if (audience === null) {
    return (
      <p className="min-h-11">
        {unchecked.find(({ part }) => part === "audience")?.reason ?? "The audience does not exist any more."}
      </p>
    );
  }
  const { will_send, total, excluded, is_estimate } = audience;
  return (
    <div className="min-h-11">
      <p>
        <b className="text-[17px] font-semibold">
          {is_estimate ? "about " : ""}
          {counted(will_send, "person", "people")}
        </b>
        {of && <span className="text-muted"> of {of}</span>}
        {segment_conditions && <span className="text-muted"> who meet the campaign’s conditions</span>}
      </p>
      <p className="text-muted">
        {excluded.total === 0 ? (
          `All ${countText(total)} of the audience.`
        ) : (
          <>
            Of {countText(total)}; {countText(excluded.total)} are left out:{" "}
            <ExcludedReasons excluded={excluded} listId={mailing_list_id} />
          </>
        )}
      </p>
    </div>
  );
}

export function Duration({ check, hasFailed }: Props) {
  if (!check) return <Pending text={hasFailed ? "Not known" : "…"} lines={1} />;
  if (check.duration === null) {
    return <p className="text-muted">Not known: nothing was sent to 100 people or more yet.</p>;
  }
  const { seconds, limited_by } = check.duration;
  return (
    <p>
      About {durationText(seconds)} <span className="text-muted">{reasons[limited_by]}</span>
    </p>
  );
}

const reasons: Readonly<Record<NonNullable<Check["duration"]>["limited_by"], string>> = {
  hourly_cap: "by the messages an hour that the workspace may send",
  speed: "at the speed of the last campaigns",
};

export function Cost({ check, hasFailed }: Props) {
  if (!check) return <Pending text={hasFailed ? "Not known" : "…"} lines={1} />;
  if (check.cost === null) return <p className="text-muted">Not known without the audience.</p>;
  const { amount, currency, included, charged, uncovered, balance } = check.cost;
  return (
    <>
      <p>
        {charged === 0
          ? "Nothing beyond the plan"
          : `${money(amount, currency)} for ${counted(charged, "message")}`}{" "}
        <span className="text-muted">
          {charged === 0
            ? `${counted(included, "message")} are in it`
            : `${countText(included)} are in the plan, the balance is ${money(balance, currency)}`}
        </span>
      </p>
      {uncovered > 0 && (
        <p className="text-warning">
          Plan and balance do not cover {counted(uncovered, "message")}: sending pauses before them.
        </p>
      )}
    </>
  );
}

function money(amount: string, currency: string): string {
  return new Intl.NumberFormat("en", { style: "currency", currency }).format(Number(amount));
}

function Pending({ text, lines }: { readonly text: string; readonly lines: number }) {
  return <p className={`text-muted ${lines === 2 ? "min-h-11" : ""}`}>{text}</p>;
}
