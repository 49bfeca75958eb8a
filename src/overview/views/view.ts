/** A saved view: a page of a client with its filters, sorting and columns, under a name. */
import { Type } from "typebox";
import { CreatedAt, described, Id, patterned, UpdatedAt } from "#platform/shapes.ts";
import { LONGEST_NAME } from "#workspace/read-display-name.ts";

const PAGE = "^[a-z][a-z0-9-]{0,49}$";

const name = Type.String({
  minLength: 1,
  maxLength: LONGEST_NAME,
  description: "Name for display; it is trimmed.",
});
const pageName = patterned(PAGE, "the name of a page, such as campaigns: a–z, 0–9 and -", {
  description: "The page that it belongs to, by a name that the client chooses, such as `campaigns`.",
});
const state = Type.String({
  maxLength: 4_000,
  description:
    "State of the page, such as `status=sent&sort=name`: what the client puts into its URL. The service does not read it.",
});
const isShared = Type.Boolean({ description: "Whether everyone in the workspace sees it." });

export const View = Type.Object(
  {
    id: described(Id, "Id of the view."),
    page_name: pageName,
    name,
    state,
    is_shared: isShared,
    is_own: Type.Boolean({ description: "Whether the caller has saved it." }),
    owner_name: Type.String({ description: "Name of the person or API key that saved it." }),
    created_at: CreatedAt,
    updated_at: UpdatedAt,
  },
  { $id: "View" },
);

export const NewView = Type.Object(
  { page_name: pageName, name, state, is_shared: Type.Optional(isShared) },
  { $id: "NewView" },
);

export const ViewChange = Type.Partial(Type.Object({ name, state, is_shared: isShared }), {
  $id: "ViewChange",
});
