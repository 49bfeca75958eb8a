/**
 * Conditions on the status of a membership. Statements evaluate one status at a time (members-store.ts), so these rules
 * are decided beforehand.
 */
import { type SubscriberStatus, subscriberStatuses } from "#audience/subscribers/memberships/status.ts";
import { foldText } from "#platform/database/fold-text.ts";
import { kind, not, type Operator, presence } from "./operator.ts";
import { oneText, readRuleText, readRuleTexts, someTexts } from "./read-rule-value.ts";

type StatusOperator = Operator<SubscriberStatus, SubscriberStatus>;

const among = (wanted: readonly string[]) => {
  const known: readonly string[] = subscriberStatuses;
  if (!wanted.every((status) => known.includes(status))) return `must be one of ${known.join(", ")}`;
  const holds = (held: SubscriberStatus) => wanted.includes(held);
  return { sql: holds, holds };
};

const one: StatusOperator = {
  takes: oneText,
  read: (value) => readRuleText(value, foldText, (status) => among([status])),
};
const oneOf: StatusOperator = {
  takes: someTexts,
  read: (value) => readRuleTexts(value, foldText, among),
};
const isNot = not(one);

export const statusKind = kind<SubscriberStatus, SubscriberStatus>("status", "a status", {
  is: one,
  is_not: isNot,
  equals: one,
  not_equals: isNot,
  in: oneOf,
  is_one_of: oneOf,
  is_not_one_of: not(oneOf),
  ...presence({ sql: () => true, holds: () => true }),
});
