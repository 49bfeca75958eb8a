/** What the pages of mailed links share: the token of the address, and the way to the sign-in. */
import { useQueryClient } from "@tanstack/react-query";
import { useLocation, useNavigate } from "@tanstack/react-router";
import { sessionQuery } from "../../api/session.tsx";
import { Button } from "../../parts/button.tsx";

/** What follows `#`, which stays out of logs. Another link changes it without loading the page again. */
export function useToken(): string {
  return useLocation({ select: ({ hash }) => hash });
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
