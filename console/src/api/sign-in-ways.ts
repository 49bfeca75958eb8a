/** How people sign in at this installation, and whether it delivers mail. */
import { queryOptions, useQuery } from "@tanstack/react-query";
import { openApi } from "./client.ts";

const FRESH_MS = 600_000;

export const signInWaysQuery = queryOptions({
  queryKey: ["sign-in ways"],
  queryFn: ({ signal }) => openApi.getSignInOptions({ signal, retries: 1 }),
  staleTime: FRESH_MS,
});

export function useSignInWays() {
  return useQuery(signInWaysQuery);
}
