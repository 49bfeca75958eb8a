/** Request bodies about subscribers, and how their fields are read. */
import { type Static, Type } from "typebox";
import { headerTextFault, normalizeAddress, parseAddress } from "#mail/address.ts";
import { invalid } from "#platform/errors.ts";
import { described, nullable } from "#platform/shapes.ts";
import { subscriberStatuses } from "./memberships/status.ts";

export const LONGEST_PERSON_NAME = 200;
export const LONGEST_SOURCE = 100;

const custom_fields = Type.Unknown({ description: "An object of values by field_name, also as JSON text." });
const name = nullable(Type.String({ maxLength: LONGEST_PERSON_NAME }));
const status = Type.Enum([...subscriberStatuses]);

export const NewMemberInput = Type.Object(
  {
    email: Type.String({ minLength: 3, description: "Never changes afterwards." }),
    first_name: Type.Optional(described(name, "Given name; null or empty for none.")),
    last_name: Type.Optional(described(name, "Family name; null or empty for none.")),
    source: Type.Optional(
      nullable(
        Type.String({
          maxLength: LONGEST_SOURCE,
          description: "Where the person comes from; `api` when omitted.",
        }),
      ),
    ),
    status: Type.Optional(
      Type.Enum([...subscriberStatuses], {
        description: "`active` when omitted, unless the person bounced or complained.",
      }),
    ),
    custom_fields: Type.Optional(custom_fields),
  },
  { $id: "NewMemberInput" },
);
export type NewMemberInput = Static<typeof NewMemberInput>;

export const MemberChanges = Type.Object(
  {
    email: Type.Optional(Type.String({ description: "Cannot change: must be the stored address." })),
    first_name: Type.Optional(described(name, "Given name; null clears it.")),
    last_name: Type.Optional(described(name, "Family name; null clears it.")),
    status: Type.Optional(described(status, "The status on this list: only `active` gets mail.")),
    custom_fields: Type.Optional(custom_fields),
  },
  { $id: "MemberChanges" },
);
export type MemberChanges = Static<typeof MemberChanges>;

export const StatusInput = Type.Object(
  { status: described(status, "The status on this list: only `active` gets mail.") },
  { $id: "SubscriberStatusInput" },
);

/** The address in the form that is stored and compared. @throws ApiError VALIDATION_ERROR */
export function readEmail(text: string): string {
  const address = parseAddress(text);
  if (!address.ok) throw invalid({ field: "email", message: `email: ${address.message}` });
  return normalizeAddress(address.address);
}

/**
 * A trimmed name; empty text is null.
 * @throws ApiError VALIDATION_ERROR for text that cannot be part of a mail header
 */
export function readNameField(field: string, text: string | null): string | null {
  const fault = text === null ? null : headerTextFault(text);
  if (fault !== null) throw invalid({ field, message: `${field}: ${fault}` });
  return text?.trim() || null;
}
