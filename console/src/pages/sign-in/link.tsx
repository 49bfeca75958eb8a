/** What the pages of mailed links share: the token of the address, and the way to the sign-in. */
import { useQueryClient } from "@tanstack/react-query";
import { useLocation, useNavigate } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { sessionQuery } from "../../api/session.tsx";
import { Button } from "../../parts/button.tsx";
import { Column } from "./column.tsx";

/** The page of a link. Its token follows `#`, which stays out of logs; another link changes it without loading the page again. */
export function WithToken({ children }: { readonly children: (token: string) => ReactNode }) {
  const token = useLocation({ select: ({ hash }) => hash });
  if (token !== "") return children(token);
  return (
    <Column title="This link is not complete">
      <p>The end of its address is missing. Open it again where you got it, or copy all of it.</p>
      <ToSignIn>Go to the console</ToSignIn>
    </Column>
  );
}

export function ToSignIn({
  children,
  back,
  kind = "plain",
}: {
  readonly children: string;
  /** Where the person goes on afterwards. */
  readonly back?: string;
  readonly kind?: "primary" | "plain" | "quiet";
}) {
  const navigate = useNavigate();
  const queries = useQueryClient();
  return (
    <Button
      kind={kind}
      className="h-10"
      onPress={() => {
        // What the link did may have ended the session, or changed its person.
        queries.removeQueries({ queryKey: sessionQuery.queryKey });
        void navigate({ to: "/sign-in", hash: "", search: (back === undefined ? {} : { back }) as never });
      }}
    >
      {children}
    </Button>
  );
}
