/** The sign-up form of a list: whether it is open, and its URL. */
import { Type } from "typebox";
import { mailingLists } from "#audience/mailing-lists/permission.ts";
import { lockMailingList, requireMailingList } from "#audience/mailing-lists/store.ts";
import type { Clock } from "#platform/clock.ts";
import type { Database, Queryable } from "#platform/database/pool.ts";
import { invalid } from "#platform/errors.ts";
import { type Endpoint, endpoint, need } from "#platform/http/endpoint.ts";
import type { WorkspaceId } from "#platform/ids.ts";
import type { Secrets } from "#platform/secrets/secrets.ts";
import { described, Id, nullable, Timestamp } from "#platform/shapes.ts";
import { findUnaskedField } from "./eligibility.ts";
import { findFormAbuse } from "./report-form-abuse.ts";
import { signupUrl } from "./serve-pages.ts";
import { findSignupForm, insertSignupForm, removeSignupForm } from "./store.ts";

const SignupForm = Type.Object(
  {
    mailing_list_id: described(Id, "The list that people join."),
    is_active: Type.Boolean({ description: "Whether the form is open." }),
    url: nullable(
      Type.String({
        description:
          "URL of its public page. A form on your own site may POST `email`, `first_name` and `last_name` there: the page opens filled in, for one more press of its button.",
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
  },
  { $id: "SignupForm" },
);

const SignupFormInput = Type.Object(
  { is_active: Type.Boolean({ description: "Whether the form takes sign-ups." }) },
  { $id: "SignupFormInput" },
);

interface Dependencies {
  readonly db: Database;
  readonly clock: Clock;
  readonly secrets: Secrets;
  readonly publicUrl: () => string;
}

export function signupFormEndpoints({ db, clock, secrets, publicUrl }: Dependencies): Endpoint[] {
  const shown = async (workspaceId: WorkspaceId, mailing_list_id: string, is_active: boolean) => ({
    mailing_list_id,
    is_active,
    url: is_active ? signupUrl(publicUrl(), secrets, workspaceId, mailing_list_id) : null,
    abuse: await findFormAbuse({ db, clock }, workspaceId, mailing_list_id),
  });
  return [
    endpoint({
      id: "getSignupForm",
      method: "GET",
      path: "/mailing-lists/{id}/signup-form",
      summary: "The sign-up form of a list",
      description:
        "The public page of the list and the address for forms in your own pages. People who sign up get a confirmation mail, and join the list by the link in it.",
      needs: need(mailingLists, "read"),
      answer: SignupForm,
      message: "Sign-up form",
      async handle({ caller: { workspaceId }, params: { id } }) {
        await requireMailingList(db, workspaceId, id);
        return shown(workspaceId, id, (await findSignupForm(db, workspaceId, id)) !== undefined);
      },
    }),
    endpoint({
      id: "updateSignupForm",
      method: "PUT",
      path: "/mailing-lists/{id}/signup-form",
      summary:
        "Open or close the sign-up form of a list; people who fill it in join by a link that is mailed to them",
      description:
        "Switches the public form on or off. While it is off, its page says so and sign-ups are refused; confirmation links that were sent still work.",
      needs: need(mailingLists, "write"),
      body: SignupFormInput,
      answer: SignupForm,
      message: ({ is_active }) => (is_active ? "The form is open" : "The form is closed"),
      async handle({ caller: { workspaceId }, params: { id }, body: { is_active } }) {
        await db.transaction(async (tx) => {
          await lockMailingList(tx, workspaceId, id);
          if (!is_active) return removeSignupForm(tx, workspaceId, id);
          await requireNothingElse(tx, workspaceId, id);
          await insertSignupForm(tx, workspaceId, id, clock.now());
        });
        return shown(workspaceId, id, is_active);
      },
    }),
  ];
}

/**
 * A list that requires a custom field without a default cannot be joined by the form.
 * @throws ApiError VALIDATION_ERROR
 */
async function requireNothingElse(tx: Queryable, workspaceId: WorkspaceId, id: string): Promise<void> {
  const wanted = await findUnaskedField(tx, workspaceId, id);
  if (wanted === undefined) return;
  throw invalid({
    field: "is_active",
    message: `is_active: the form does not ask for ${wanted}, which the list requires: give that field a default or make it optional`,
  });
}
