/** The shapes of a workspace and its settings over HTTP. */
import { type Static, Type } from "typebox";
import { invalid } from "#platform/errors.ts";
import { languages } from "#platform/languages/language.ts";
import { Id, nullable, Timestamp } from "#platform/shapes.ts";
import { LONGEST_NAME, readName } from "./read-display-name.ts";
import {
  LARGEST_CAP,
  MOST_RETRY_HOURS,
  planNames,
  readDefaultSender,
  readNotifyEmail,
  readTimezone,
  type Workspace,
} from "./workspaces/workspace.ts";

const name = Type.String({ minLength: 1, maxLength: LONGEST_NAME, description: "Its name." });
const timezone = Type.String({
  minLength: 1,
  maxLength: 100,
  description: "IANA time zone, such as Europe/Paris: days and months of reports follow it.",
});
const Address = Type.String({ minLength: 3, maxLength: 320 });

/** What the people of a workspace set themselves. */
const settings = {
  name,
  timezone,
  default_sender: nullable({
    ...Address,
    description:
      "From address of transactional mail whose request names none; null: the installation's. The workspace must be allowed to send as it.",
  }),
  notify_email: nullable({
    ...Address,
    description: "Address of the service's notices to the workspace; null: none are sent.",
  }),
  retry_hours: Type.Integer({
    minimum: 1,
    maximum: MOST_RETRY_HOURS,
    description: `Hours for which deferred mail is retried, 1 to ${MOST_RETRY_HOURS}; for mail accepted from now on.`,
  }),
  tracks_transactional: Type.Boolean({
    description: "Whether opens and clicks of transactional mail are recorded.",
  }),
  hourly_cap: nullable(
    Type.Integer({
      minimum: 1,
      maximum: LARGEST_CAP,
      description: "Emails accepted in a full hour (UTC) at most; null: no cap of your own.",
    }),
  ),
  requires_second_factor: Type.Boolean({
    description: "Whether people need a second factor to use the workspace; API keys do not.",
  }),
  language: Type.Enum([...languages], {
    description:
      "Language of what the service writes to recipients, unless a list or the recipient has another; ISO 639-1.",
  }),
  language_field: nullable(
    Type.String({
      maxLength: LONGEST_NAME,
      description:
        "field_name of the custom field that has a recipient's language, with values such as de or pt-BR; null: language, then locale, where such fields are defined.",
    }),
  ),
};

export const WorkspaceShape = Type.Object(
  {
    id: Type.Unsafe<string>({ ...Id, description: "For the X-Workspace header." }),
    ...settings,
    operator_hourly_cap: nullable(
      Type.Integer({ description: "The operator's hourly cap, null for none: the lower cap applies." }),
    ),
    plan: Type.Enum([...planNames], { description: "The plan in force." }),
    is_suspended: Type.Boolean({
      description: "Whether the operator has suspended it: it can read, but not send or change anything.",
    }),
    created_at: Timestamp,
    updated_at: Timestamp,
  },
  { $id: "Workspace" },
);

export const WorkspaceSettings = Type.Partial(Type.Object(settings), { $id: "WorkspaceSettings" });

export const NewWorkspaceShape = Type.Object(
  {
    name,
    timezone: Type.Optional(timezone),
    plan: Type.Optional(Type.Enum([...planNames], { description: "Default: free." })),
  },
  { $id: "NewWorkspace" },
);

/** @param plan the plan in force */
export function shownWorkspace(workspace: Workspace, plan: Workspace["plan"]): Static<typeof WorkspaceShape> {
  return {
    id: workspace.id,
    name: workspace.name,
    timezone: workspace.timezone,
    default_sender: workspace.default_sender,
    notify_email: workspace.notify_email,
    retry_hours: workspace.retry_hours,
    tracks_transactional: workspace.tracks_transactional,
    hourly_cap: workspace.own_hourly_cap,
    requires_second_factor: workspace.requires_second_factor,
    language: workspace.language,
    language_field: workspace.language_field,
    operator_hourly_cap: workspace.hourly_cap,
    plan,
    is_suspended: workspace.is_suspended,
    created_at: workspace.created_at,
    updated_at: workspace.updated_at,
  };
}

/** @throws ApiError VALIDATION_ERROR */
export function readWorkspaceSettings(given: Static<typeof WorkspaceSettings>) {
  const address = (text: string | null, field: string, read: (text: string) => string) => {
    // The readers of the command line take the word none, which is no address here.
    if (text === "none") throw invalid({ field, message: `${field} must be an address, or null` });
    return text === null ? null : read(text);
  };
  const { default_sender, notify_email, retry_hours, tracks_transactional, hourly_cap } = given;
  return {
    ...(given.name !== undefined && { name: readName(given.name) }),
    ...(given.timezone !== undefined && { timezone: readTimezone(given.timezone) }),
    ...(default_sender !== undefined && {
      default_sender: address(default_sender, "default_sender", readDefaultSender),
    }),
    ...(notify_email !== undefined && {
      notify_email: address(notify_email, "notify_email", readNotifyEmail),
    }),
    ...(retry_hours !== undefined && { retry_hours }),
    ...(tracks_transactional !== undefined && { tracks_transactional }),
    ...(hourly_cap !== undefined && { own_hourly_cap: hourly_cap }),
    ...(given.requires_second_factor !== undefined && {
      requires_second_factor: given.requires_second_factor,
    }),
    ...(given.language !== undefined && { language: given.language }),
    ...(given.language_field !== undefined && { language_field: readLanguageField(given.language_field) }),
  };
}

/** A custom field's name by its form alone. */
function readLanguageField(text: string | null): string | null {
  const name = text?.trim() || null;
  if (name === null || /^[a-z0-9_]+$/.test(name)) return name;
  throw invalid({
    field: "language_field",
    message:
      "language_field must be the field_name of a custom field: letters a to z, digits and underscores",
  });
}
