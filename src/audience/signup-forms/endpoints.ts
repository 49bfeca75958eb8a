/** The sign-up form of a list: whether it is open, and its URL. */
import { Type } from "typebox";
import type { CustomField } from "#audience/custom-fields/custom-field.ts";
import { listFieldsInForce } from "#audience/custom-fields/store.ts";
import { mailingLists } from "#audience/mailing-lists/permission.ts";
import { lockMailingList, requireMailingList } from "#audience/mailing-lists/store.ts";
import type { Clock } from "#platform/clock.ts";
import type { Database } from "#platform/database/pool.ts";
import { invalid } from "#platform/errors.ts";
import { type Endpoint, endpoint, need } from "#platform/http/endpoint.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import type { Secrets } from "#platform/secrets/secrets.ts";
import { described, Id, nullable, Timestamp } from "#platform/shapes.ts";
import { shownFields, unaskedField } from "./form-fields.ts";
import { changedForm, formChangeShapes, formSettingShapes, standardForm } from "./form-settings.ts";
import { findFormAbuse } from "./report-form-abuse.ts";
import { signupUrl } from "./serve-pages.ts";
import { findStoredForm, lockStoredForm, removeOpenRequests, type StoredForm, updateForm } from "./store.ts";

const SignupForm = Type.Object(
  {
    mailing_list_id: described(Id, "The list that people join."),
    is_active: Type.Boolean({ description: "Whether the form is open." }),
    url: nullable(
      Type.String({
        description:
          "URL of its public page. With `?lang=de` it is in German. A form on your own site may POST `email`, `first_name`, `last_name` and `custom_fields.<field_name>` there: the page opens filled in, for one more press of its button.",
      }),
    ),
    abuse: nullable(
      Type.Object(
        {
          since: described(Timestamp, "Since when the form is misused, in UTC."),
          reason: Type.Enum(["network", "list", "workspace"], {
            description:
              "Whose limit was reached last: that of several networks (or of one, again and again), of the list, or of the workspace.",
          }),
          refused_last_hour: Type.Integer({ description: "Sign-ups that were refused at a limit." }),
        },
        { description: "Set while the form is abused, and for a day after." },
      ),
    ),
    ...formSettingShapes,
  },
  { $id: "SignupForm" },
);

const SignupFormInput = Type.Object(
  { is_active: Type.Boolean({ description: "Whether the form takes sign-ups." }), ...formChangeShapes },
  { $id: "SignupFormInput" },
);

interface Dependencies {
  readonly db: Database;
  readonly clock: Clock;
  readonly secrets: Secrets;
  readonly publicUrl: () => string;
}

export function signupFormEndpoints({ db, clock, secrets, publicUrl }: Dependencies): Endpoint[] {
  const shown = async (
    workspaceId: WorkspaceId,
    mailing_list_id: string,
    { is_open, ...settings }: StoredForm,
    defined: readonly CustomField[],
  ) => ({
    mailing_list_id,
    is_active: is_open,
    url: is_open ? signupUrl(publicUrl(), secrets, workspaceId, mailing_list_id) : null,
    abuse: await findFormAbuse({ db, clock }, workspaceId, mailing_list_id),
    ...settings,
    fields: shownFields(settings.fields, defined),
  });
  return [
    endpoint({
      id: "getSignupForm",
      method: "GET",
      path: "/mailing-lists/{id}/signup-form",
      summary: "The sign-up form of a list",
      description:
        "The public page of the list, the address for forms in your own pages, and what the form asks for and says. People who sign up get a confirmation mail, and join the list by the link in it.",
      needs: need(mailingLists, "read"),
      answer: SignupForm,
      message: "Sign-up form",
      async handle({ caller: { workspaceId }, params: { id } }) {
        await requireMailingList(db, workspaceId, id);
        const form = await findStoredForm(db, workspaceId, id);
        const defined = await listFieldsInForce(db, workspaceId, id);
        return shown(workspaceId, id, form ?? { ...standardForm, is_open: false }, defined);
      },
    }),
    endpoint({
      id: "updateSignupForm",
      method: "PUT",
      path: "/mailing-lists/{id}/signup-form",
      summary:
        "Open or close the sign-up form of a list, and change what it says; people who fill it in join by a link that is mailed to them",
      description:
        "Switches the public form on or off, and changes its fields and texts; those that are omitted stay. While it is off, its page says so, sign-ups are refused, and confirmation links that were sent do not work.",
      needs: need(mailingLists, "write"),
      body: SignupFormInput,
      answer: SignupForm,
      message: ({ is_active }) => (is_active ? "The form is open" : "The form is closed"),
      async handle({ caller: { workspaceId }, params: { id }, body: { is_active, ...changes } }) {
        const { form, defined } = await db.transaction(async (tx) => {
          await lockMailingList(tx, workspaceId, id);
          const defined = await listFieldsInForce(tx, workspaceId, id);
          const { is_open: wasOpen, ...held } = await lockStoredForm(tx, workspaceId, id, clock.now());
          const settings = changedForm(held, changes, defined);
          if (is_active) requireNothingElse(settings.fields, defined);
          const changed = { ...settings, is_open: is_active };
          await updateForm(tx, workspaceId, id, changed);
          if (wasOpen && !is_active) await removeOpenRequests(tx, workspaceId, id);
          return { form: changed, defined };
        });
        return shown(workspaceId, id, form, defined);
      },
    }),
  ];
}

/**
 * A list that requires a custom field without a default can only be joined by a form that asks for it.
 * @throws ApiError VALIDATION_ERROR
 */
function requireNothingElse(...form: Parameters<typeof unaskedField>): void {
  const wanted = unaskedField(...form);
  if (wanted === undefined) return;
  throw invalid({
    field: "is_active",
    message: `is_active: the form does not ask for ${wanted}, which the list requires: add it to fields, give it a default or make it optional`,
  });
}
