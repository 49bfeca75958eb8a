/** The person's theme, and the change of it. */
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { showTheme, type Theme } from "../parts/theme.ts";
import { apiOf } from "./client.ts";
import { type Session, sessionQuery, useSession } from "./session.tsx";

export function useTheme() {
  const queries = useQueryClient();
  const theme: Theme = useSession()?.person.theme ?? "system";
  const { mutate: choose, error } = useMutation({
    mutationFn: (wanted: Theme) =>
      apiOf(undefined).updateMe({ body: { theme: wanted === "system" ? null : wanted } }),
    onMutate: (wanted) => {
      showTheme(wanted);
      queries.setQueryData(sessionQuery.queryKey, (session) =>
        withTheme(session, wanted === "system" ? null : wanted),
      );
    },
    onError: () => queries.invalidateQueries({ queryKey: sessionQuery.queryKey }),
  });
  return { theme, choose, error };
}

function withTheme(session: Session | null | undefined, theme: Session["person"]["theme"]) {
  return session && { ...session, person: { ...session.person, theme } };
}
