/** The public form of a list: on or off, its address, and a form for one's own page. */

import { useQuery } from "@tanstack/react-query";
import { useAct } from "../../api/act.ts";
import { mayCall, usePlace } from "../../api/session.tsx";
import { CodeBlock } from "../../parts/code-block.tsx";
import { Copyable } from "../../parts/copyable.tsx";
import { Failure } from "../../parts/failure.tsx";
import { counted } from "../../parts/numbers.ts";
import { Panel } from "../../parts/page.tsx";
import { Time } from "../../parts/time.tsx";
import { Switch } from "../../parts/toggle.tsx";

export function SignupFormTab({ listId }: { readonly listId: string }) {
  const { api, workspace } = usePlace();
  const { data, error, refetch } = useQuery({
    queryKey: ["signup-form", workspace.id, listId],
    queryFn: ({ signal }) => api.getSignupForm({ id: listId, signal }),
  });
  const turn = useAct({
    run: (is_active: boolean) => api.updateSignupForm({ id: listId, body: { is_active } }),
    changes: ["signup-form"],
    done: ({ is_active }) => `The form is ${is_active ? "open" : "closed"}`,
  });
  if (error) return <Failure error={error} onRetry={() => void refetch()} />;
  if (!data) return <div className="min-h-40" />;
  const { is_active, url, abuse } = data;
  return (
    <div className="max-w-2xl">
      <div className="flex flex-wrap items-center gap-x-6 gap-y-2 pb-4">
        {mayCall(workspace, "updateSignupForm") ? (
          <Switch isSelected={is_active} onChange={(isOn) => turn.mutate(isOn)} isDisabled={turn.isPending}>
            The form is open
          </Switch>
        ) : (
          <p>The form is {is_active ? "open" : "closed"}.</p>
        )}
      </div>
      {turn.error && <Failure error={turn.error} />}
      {abuse && (
        <p role="status" className="mb-4 border-l-2 border-warning px-4 py-2">
          The form is being misused since <Time at={abuse.since} isPrecise />: the limit of the {abuse.reason}{" "}
          was reached, and {counted(abuse.refused_last_hour, "sign-up")} of the last hour were refused. Close
          it, or open it on another list: its address changes.
        </p>
      )}
      <p className="pb-4 text-muted">
        People who fill it in get a mail with a link, and join the list by the button behind it. No one is
        added before.
      </p>
      {is_active && url && (
        <>
          <Panel
            title="Its page"
            acts={
              <a href={url} target="_blank" rel="noreferrer" className="text-accent hover:underline">
                Open
              </a>
            }
          >
            <Copyable text={url} label="address of the form" />
          </Panel>
          <Snippet url={url} />
        </>
      )}
    </div>
  );
}

function Snippet({ url }: { readonly url: string }) {
  const html = `<form method="post" action="${url}" accept-charset="utf-8">
  <input type="email" name="email" required>
  <input name="first_name">
  <button>Subscribe</button>
</form>`;
  return (
    <Panel title="A form in your own page">
      <p className="mb-2 text-muted">
        It opens the page above with what was typed; one more press of its button sends it.
      </p>
      <CodeBlock label="form" text={html} />
    </Panel>
  );
}
