/** The page of something that does not exist, with the way to what does. */
import { PosthasteError } from "@posthaste/client";
import { useNavigate } from "@tanstack/react-router";
import { usePlace } from "../api/session.tsx";
import { Button } from "./button.tsx";
import { Empty } from "./empty.tsx";
import { Page } from "./page.tsx";

/** Whether the API says that there is nothing with this id; one of another form is none of a thing, either. */
export function isUnknown(error: unknown): boolean {
  return error instanceof PosthasteError && (error.status === 404 || error.status === 400);
}

interface Props {
  /** The title of the page: "List". */
  readonly title: string;
  /** The page with all of them, below the workspace: "lists". */
  readonly to: string;
}

export function Unknown({ title, to }: Props) {
  const { workspace } = usePlace();
  const navigate = useNavigate();
  const noun = title.toLowerCase();
  return (
    <Page title={title}>
      <Empty
        title={`There is no such ${noun}`}
        action={
          <Button onPress={() => void navigate({ to: `/${workspace.id}/${to}` })}>Look at all {to}</Button>
        }
      >
        The {noun} was deleted, or the link is of another workspace.
      </Empty>
    </Page>
  );
}
