/** Shapes of the answer to "may these addresses be mailed, and if not, why". */
import { type Static, Type } from "typebox";
import { subscriberStatuses } from "#audience/subscribers/memberships/status.ts";
import { Id, NullableTimestamp, nullable, Timestamp } from "#platform/shapes.ts";
import { entryTypes } from "./entry-value.ts";
import { suppressionReasons } from "./suppression-check.ts";
import { suppressionScopes } from "./suppression-list.ts";

/** Addresses of one question. */
const MOST_ASKED = 100;
/** Entries and mailing lists that the answer names for each address. */
export const MOST_NAMED_EACH = 100;

export const SuppressionSearch = Type.Object(
  {
    addresses: Type.Array(Type.String({ minLength: 3, maxLength: 500 }), {
      minItems: 1,
      maxItems: MOST_ASKED,
      description: `Addresses, 1 to ${MOST_ASKED}. A name beside an address and the case of letters make no difference.`,
    }),
  },
  { $id: "SuppressionSearch" },
);

const SuppressionCause = Type.Object(
  {
    message_id: Type.String({ format: "uuid", description: "The message, as in GET /messages/{id}." }),
    subject: Type.String({ description: "Subject of the message." }),
    source: Type.String({
      description: "What sent it: `campaign`, `autoresponder`, `api`, `smtp` or `platform`.",
    }),
    time: Type.Unsafe<Date>({ ...Timestamp, description: "Time of the bounce or complaint." }),
    mx_host: nullable(
      Type.String({ description: "Host that refused the message; null if it was reported by mail." }),
    ),
    smtp_code: nullable(Type.Integer({ description: "SMTP reply code, such as 550." })),
    enhanced_code: nullable(Type.String({ description: "Enhanced status code, such as 5.1.1." })),
    detail: nullable(Type.String({ description: "The line of the server or of the report." })),
  },
  { $id: "SuppressionCause" },
);
export type SuppressionCause = Static<typeof SuppressionCause>;

const SuppressionBlock = Type.Object(
  {
    suppression_list_id: Id,
    suppression_list_name: Type.String(),
    suppression_scope: Type.Enum([...suppressionScopes], {
      description:
        "`global`: keeps every message away. `mailing_list`: campaigns and autoresponders for `mailing_list_id`. `segment`: campaigns to `segment_id`.",
    }),
    mailing_list_id: nullable(
      Type.String({ format: "uuid", description: "Set for the scope `mailing_list`." }),
    ),
    segment_id: nullable(Type.String({ format: "uuid", description: "Set for the scope `segment`." })),
    is_system: Type.Boolean({ description: "Whether it is the list of bounces and complaints." }),
    entry_id: Type.String({
      format: "uuid",
      description: "Removed by DELETE /suppression-lists/{suppression_list_id}/entries/{entry_id}.",
    }),
    entry_value: Type.String({ description: "As it was given." }),
    entry_type: Type.Enum([...entryTypes], {
      description: "`domain`: the entry keeps mail from every address of the domain.",
    }),
    reason: Type.Enum([...suppressionReasons], { description: "Why the entry is on the list." }),
    created_at: Type.Unsafe<Date>({ ...Timestamp, description: "Since when it has held." }),
    created_by: Type.String({ description: "Name of the API key or person who added it, or `system`." }),
    cause: nullable(SuppressionCause),
    removal_warning: nullable(
      Type.String({ description: "What to consider before the entry is removed; null if nothing." }),
    ),
  },
  { $id: "SuppressionBlock" },
);
export type SuppressionBlock = Static<typeof SuppressionBlock>;

const ListState = Type.Object(
  {
    mailing_list_id: Id,
    name: Type.String({ description: "Name of the mailing list." }),
    status: Type.Enum([...subscriberStatuses], { description: "The person's status on the list." }),
    subscribed_at: Timestamp,
    unsubscribed_at: NullableTimestamp,
    may_be_mailed: Type.Boolean({
      description:
        "Whether campaigns and autoresponders for the list reach the person: active on it, and no global entry and none for this list.",
    }),
  },
  { $id: "SuppressionListState" },
);
export type ListState = Static<typeof ListState>;

const SuppressionFinding = Type.Object(
  {
    address: Type.String({ description: "As it was given." }),
    email: Type.String({ description: "The form that is compared." }),
    may_be_mailed: Type.Boolean({
      description:
        "Whether a message of POST /emails/send would be sent: true if no global entry holds. `mailing_lists` says it for campaigns and autoresponders.",
    }),
    summary: Type.String({ description: "The answer as a sentence." }),
    subscriber_id: nullable(
      Type.String({ format: "uuid", description: "The person, if on any mailing list." }),
    ),
    blocks: Type.Array(SuppressionBlock, {
      description: `Every entry of an active list that holds for the address or its domain: global ones first, then the newest first, at most ${MOST_NAMED_EACH}.`,
    }),
    mailing_lists: Type.Array(ListState, {
      description: `The mailing lists that the person is on, newest membership first, at most ${MOST_NAMED_EACH}.`,
    }),
  },
  { $id: "SuppressionFinding" },
);
export type SuppressionFinding = Static<typeof SuppressionFinding>;

export const SuppressionFindings = Type.Object(
  { results: Type.Array(SuppressionFinding, { description: "One for each address, in the order given." }) },
  { $id: "SuppressionFindings" },
);
