/** Query parameters that select bounces and complaints. */
import { Type } from "typebox";
import { CLASS_OF } from "#mail/refusals/reply-codes.ts";
import { invalid } from "#platform/errors.ts";
import {
  choiceField,
  idField,
  type QueryField,
  type QueryValues,
  textField,
  timeField,
} from "#platform/http/request/query.ts";
import type { BounceFilter, ComplaintFilter, RecordFilter } from "./records-store.ts";

const categories = Object.entries(CLASS_OF).flatMap(([category, kind]) =>
  kind === "ours" ? [] : [category],
);

const smtpCode: QueryField<number | undefined> = {
  schema: Type.Integer({
    minimum: 200,
    maximum: 599,
    description: "Only bounces whose reply has this code, such as 550.",
  }),
  read(text, name) {
    if (!text) return undefined;
    if (/^[2-5]\d\d$/.test(text)) return Number(text);
    throw invalid({ field: name, message: `${name} must be a reply code of SMTP such as 550` });
  },
};

const ofBoth = {
  domain: textField(255, "Only recipients at this domain."),
  campaign_id: idField("Only mail of this campaign."),
  from: timeField("Only those at this time or later."),
  to: timeField("Only those before this time."),
};

export const bounceFilterFields = {
  ...ofBoth,
  bounce_type: choiceField(["hard", "soft", "block"], "Only bounces of this type."),
  category: choiceField(categories, "Only bounces with this cause."),
  smtp_code: smtpCode,
};

export const complaintFilterFields = {
  ...ofBoth,
  feedback_type: textField(100, "Only complaints of this type, as the report says: `abuse`, `fraud`, ..."),
};

export function bounceFilterOf(given: QueryValues<typeof bounceFilterFields>): BounceFilter {
  const { from, to, domain, campaign_id, bounce_type, category, smtp_code } = given;
  return {
    equal: { domain: domain?.toLowerCase(), campaign_id, bounce_type, category, smtp_code },
    from,
    to,
  };
}

export function complaintFilterOf(given: QueryValues<typeof complaintFilterFields>): ComplaintFilter {
  const { from, to, domain, campaign_id, feedback_type } = given;
  return { equal: { domain: domain?.toLowerCase(), campaign_id, feedback_type }, from, to };
}

/** The filter as texts, empty without one: what a cursor belongs to. */
export function filterTextsOf({ equal, from, to }: RecordFilter<string>): string[] {
  const given = Object.entries({ ...equal, from: from?.toISOString(), to: to?.toISOString() });
  return given.flatMap(([name, value]) => (value === undefined ? [] : [`${name} ${value}`]));
}
