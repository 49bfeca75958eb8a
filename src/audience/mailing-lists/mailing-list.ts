/** Shapes of a mailing list: as the API returns it, and as callers create and change it. */
import { type Static, Type } from "typebox";
import { normalizeAddress } from "#mail/address.ts";
import { parseOnlyAddress } from "#mail/mailbox.ts";
import { invalid } from "#platform/errors.ts";
import { languages } from "#platform/languages/language.ts";
import { CreatedAt, described, Id, nullable, UpdatedAt } from "#platform/shapes.ts";
import { LONGEST_NAME, nameAndDescription, readName } from "#workspace/read-display-name.ts";
import { readFromName } from "#workspace/read-from-name.ts";

const optInTypes = ["single", "double", "api", "import"] as const;

const settings = {
  ...nameAndDescription,
  from_name: nullable(
    Type.String({ maxLength: LONGEST_NAME, description: "Of mail to the list that names none." }),
  ),
  from_email: nullable(
    Type.String({ description: "Kept to be offered as sender; a campaign names its own, which is checked." }),
  ),
  reply_to_email: nullable(Type.String({ description: "Reply-To of mail to the list that names none." })),
  opt_in_type: Type.Enum([...optInTypes], { description: "A label; no mail is sent because of it." }),
  enable_open_tracking: Type.Boolean({ description: "Default of campaigns to the list." }),
  enable_click_tracking: Type.Boolean({ description: "Default of campaigns to the list." }),
  language: nullable(
    Type.Enum([...languages], {
      description:
        "Language of its sign-up form, its unsubscribe pages and the footer of its mail, for people without a language of their own; null: the workspace's.",
    }),
  ),
};

export const MailingList = Type.Object(
  {
    id: described(Id, "Id of the mailing list."),
    ...settings,
    subscriber_count: Type.Integer({ description: "Active members." }),
    total_subscribers: Type.Integer({ description: "Members of any status." }),
    created_at: CreatedAt,
    updated_at: UpdatedAt,
  },
  { $id: "MailingList" },
);
export type MailingList = Static<typeof MailingList>;

export type ListSettings = Pick<MailingList, keyof typeof settings>;

export const MailingListChanges = Type.Partial(Type.Object(settings), { $id: "MailingListChanges" });
export type MailingListChanges = Static<typeof MailingListChanges>;

export const NewMailingList = Type.Object(
  { ...MailingListChanges.properties, name: settings.name },
  { $id: "NewMailingList" },
);

/** The settings after a change; omitted ones stay. @throws ApiError VALIDATION_ERROR */
export function readMailingListSettings(held: ListSettings, given: MailingListChanges): ListSettings {
  const { name, description, opt_in_type, enable_open_tracking, enable_click_tracking, language } = {
    ...held,
    ...given,
  };
  return {
    name: readName(name),
    description,
    from_name: given.from_name === undefined ? held.from_name : readFromName(given.from_name),
    from_email: given.from_email === undefined ? held.from_email : readEmail("from_email", given.from_email),
    reply_to_email:
      given.reply_to_email === undefined
        ? held.reply_to_email
        : readEmail("reply_to_email", given.reply_to_email),
    opt_in_type,
    enable_open_tracking,
    enable_click_tracking,
    language,
  };
}

/** Lower-case; empty text is null. */
function readEmail(field: string, text: string | null): string | null {
  if (text === null || text.trim() === "") return null;
  const address = parseOnlyAddress(text);
  if (!address.ok) throw invalid({ field, message: `${field}: ${address.message}` });
  return normalizeAddress(address.address);
}
