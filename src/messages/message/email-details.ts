/** What POST /emails says of a message, in the log (column `email_details`, JSON) and in its events. */
import { Type } from "typebox";
import { emailIdOf } from "./email-id.ts";

export const recipientTypes = ["to", "cc", "bcc"] as const;
export type RecipientType = (typeof recipientTypes)[number];

/** Absent tags and metadata are not stored. */
export interface EmailDetails {
  readonly recipient_type: RecipientType;
  readonly tags?: readonly string[];
  readonly metadata?: Readonly<Record<string, string>>;
  /** ISO 8601 in UTC; absent if the mail was due at once. */
  readonly scheduled_at?: string;
}

export const Tags = Type.Array(Type.String(), {
  description: "Tags that POST /emails gave it; empty for other mail.",
});
export const Metadata = Type.Record(Type.String(), Type.String(), {
  description: "Metadata that POST /emails gave it: names and values; empty for other mail.",
});

/** The fields of messages in events. */
export function eventFieldsOf(messageId: string, details: EmailDetails | null | undefined) {
  return {
    email_id: details ? emailIdOf(messageId) : null,
    tags: [...(details?.tags ?? [])],
    metadata: { ...details?.metadata },
  };
}
