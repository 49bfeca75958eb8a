/** The secret of a key, once, with a call that works, and the first call of the program when it comes. */

import type { Schema } from "@posthaste/client";
import { useQuery } from "@tanstack/react-query";
import contract from "operation-permissions";
import { holds, usePlace } from "../../api/session.tsx";
import { Button } from "../../parts/button.tsx";
import { CodeBlock } from "../../parts/code-block.tsx";
import { Dialog } from "../../parts/dialog.tsx";
import { Time } from "../../parts/time.tsx";
import { SmtpSettings } from "./smtp-settings.tsx";

interface Props {
  readonly issued: Schema<"IssuedApiKey">;
  readonly onClose: () => void;
}

export function NewSecret({ issued, onClose }: Props) {
  const { session } = usePlace();
  return (
    // Only the button closes it: the secret must not be lost by a click beside it.
    <Dialog title={`The secret of ${issued.name}`} isOpen isWide onClose={() => {}}>
      <div className="flex flex-col gap-4">
        <p className="text-muted">
          It is shown only now. Keep it where the program reads its secrets, never in a web page or a
          repository.
        </p>
        <CodeBlock label="secret" text={issued.key} />
        <p className="font-medium">Try it</p>
        <CodeBlock label="call" text={callOf(issued, session.person.email)} />
        {maySend(issued) && <SmtpSettings password="The secret above" />}
        <FirstCall id={issued.id} before={issued.last_used_at} />
        <div className="flex justify-end">
          <Button kind="primary" onPress={onClose}>
            I have kept it
          </Button>
        </div>
      </div>
    </Dialog>
  );
}

/** @param before the last use when the secret was made, which came with an earlier one */
function FirstCall({ id, before }: { readonly id: string; readonly before: string | null }) {
  const { api, workspace } = usePlace();
  const isFirst = (at: string | null | undefined): at is string => typeof at === "string" && at !== before;
  const { data } = useQuery({
    queryKey: ["api-key", workspace.id, id],
    queryFn: ({ signal }) => api.getApiKey({ id, signal }),
    refetchInterval: ({ state }) => (isFirst(state.data?.last_used_at) ? false : 3_000),
  });
  const at = data?.last_used_at;
  return (
    <p role="status" className="min-h-5">
      {isFirst(at) ? (
        <>
          <span aria-hidden className="mr-1.5 text-[10px] text-good">
            ●
          </span>
          The first call came <Time at={at} isPrecise />.
        </>
      ) : (
        <>
          <span aria-hidden className="mr-1.5 text-[10px] text-muted">
            ○
          </span>
          Waiting for the first call. It appears here within a minute.
        </>
      )}
    </p>
  );
}

function maySend({ permissions }: Schema<"IssuedApiKey">): boolean {
  return holds(permissions, contract.sendEmail ?? "");
}

function callOf(issued: Schema<"IssuedApiKey">, to: string): string {
  const { key } = issued;
  const url = `${location.origin}/api/v1`;
  if (!maySend(issued)) {
    return `curl ${url}/api-keys/permissions \\\n  -H 'X-API-Key: ${key}'`;
  }
  const mail = JSON.stringify({ to, subject: "The key works", body: "This mail was sent with the new key." });
  return `curl ${url}/emails/send \\\n  -H 'X-API-Key: ${key}' \\\n  -H 'Content-Type: application/json' \\\n  -d '${mail}'`;
}
