/**
 * Conditions on the status of a membership. Statements evaluate one status at a time (members-store.ts), so these rules
 * are decided beforehand.
 */
import { type SubscriberStatus, subscriberStatuses } from "#audience/subscribers/memberships/status.ts";
import { kind, not, type Operator, presence } from "./operator.ts";
import { readRuleText, readRuleTexts } from "./read-rule-value.ts";
import { foldText } from "./text-kind.ts";

type StatusOperator = Operator<SubscriberStatus, SubscriberStatus>;

const among = (wanted: readonly string[]) => {
  const known: readonly string[] = subscriberStatuses;
  if (!wanted.every((status) => known.includes(status))) return `must be one of ${known.join(", ")}`;
  const holds = (held: SubscriberStatus) => wanted.includes(held);
  return { sql: holds, holds };
};

const one: StatusOperator = { read: (value) => readRuleText(value, foldText, (status) => among([status])) };
const oneOf: StatusOperator = { read: (value) => readRuleTexts(value, foldText, among) };

export const statusKind = kind<SubscriberStatus, SubscriberStatus>("a status", {
  is: one,
  is_not: not(one),
  equals: one,
  not_equals: not(one),
  in: oneOf,
  is_one_of: oneOf,
  is_not_one_of: not(oneOf),
  ...presence({ sql: () => true, holds: () => true }),
});
