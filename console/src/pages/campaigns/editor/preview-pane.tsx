/** The mail beside the editor, made by the code that sends: as a person, in light or dark, as wide as a phone or a window. */
import { PosthasteError } from "@posthaste/client";
import { useQuery } from "@tanstack/react-query";
import { TriangleAlert } from "lucide-react";
import { useState } from "react";
import { mayCall, usePlace } from "../../../api/session.tsx";
import { Choice } from "../../../parts/choice.tsx";
import { Failure } from "../../../parts/failure.tsx";
import { MailPreview } from "../../../parts/mail-preview.tsx";
import { nameOf } from "../../../parts/person-name.ts";
import { Picker } from "../../../parts/picker.tsx";
import { Segmented } from "../../../parts/segmented.tsx";
import type { Rendering } from "./use-render.ts";

export const SAMPLE = "sample";

/** @param person the id of a subscriber, or `SAMPLE` */
export function PreviewPane({
  rendering: { mail, anchor, error, isStale, again },
  person,
  onPerson,
}: {
  readonly rendering: Rendering & { readonly again: () => void };
  readonly person: string;
  readonly onPerson: (person: string) => void;
}) {
  const [view, setView] = useState<"light" | "dark" | "text">("light");
  const [width, setWidth] = useState("375");
  return (
    <section aria-label="Preview" className="flex h-full min-h-0 flex-col border-line bg-sunken lg:border-l">
      <div className="flex shrink-0 flex-wrap items-end gap-2 border-b border-line bg-surface px-4 py-2">
        <PersonChoice person={person} onPerson={onPerson} />
        <Segmented
          label="View"
          isBare
          value={view}
          onChange={setView}
          segments={[
            { id: "light", name: "Light" },
            { id: "dark", name: "Dark" },
            { id: "text", name: "Text" },
          ]}
        />
        <div className={`w-26 ${view === "text" ? "invisible" : ""}`}>
          <Choice
            label="Width"
            isBare
            selectedKey={width}
            onSelectionChange={(key) => setWidth(String(key))}
            options={[
              { id: "375", name: "375 px", description: "A phone" },
              { id: "600", name: "600 px", description: "A mail program" },
              { id: "full", name: "Full width" },
            ]}
          />
        </div>
      </div>
      {mail && (
        <div className="shrink-0 border-b border-line bg-surface px-4 py-2">
          <p className="truncate font-medium">{mail.subject || "No subject"}</p>
          <p className="truncate text-small text-muted">
            {mail.from.name ? `${mail.from.name} <${mail.from.email}>` : mail.from.email} · to{" "}
            {mail.person.email}
            {mail.person.subscriber_id === null && ", a sample person"}
          </p>
        </div>
      )}
      <div aria-busy={isStale} className={`relative min-h-0 flex-1 ${view === "text" ? "" : "p-4"}`}>
        {mail && view === "text" && (
          <pre
            // biome-ignore lint/a11y/noNoninteractiveTabindex: a text that scrolls has to be reached with the keyboard
            tabIndex={0} // oxlint-disable-line jsx-a11y/no-noninteractive-tabindex -- as above
            className="h-full overflow-auto p-4 font-mono text-small whitespace-pre-wrap"
          >
            {mail.text}
          </pre>
        )}
        {mail && view !== "text" && (
          <MailPreview
            mail={mail}
            isDark={view === "dark"}
            title={`The mail to ${mail.person.email}`}
            width={width === "full" ? undefined : Number(width)}
            anchor={anchor}
          />
        )}
        {error !== undefined && <RenderFault error={error} onRetry={again} />}
      </div>
    </section>
  );
}

interface PersonProps {
  readonly person: string;
  readonly onPerson: (person: string) => void;
}

/** As whom the content is shown: a role that lists no people has the sample person only. */
export function PersonChoice(props: PersonProps) {
  const { workspace } = usePlace();
  if (mayCall(workspace, "listSubscribers")) return <PersonPicker {...props} />;
  return <p className="flex-1 text-muted">As a sample person</p>;
}

function PersonPicker({ person, onPerson }: PersonProps) {
  const { api, workspace } = usePlace();
  const [text, setText] = useState("");
  const { data } = useQuery({
    queryKey: ["people", workspace.id, "preview", text],
    queryFn: ({ signal }) =>
      api.listSubscribers({ query: { limit: 20, ...(text && { search: text }) }, signal }),
    placeholderData: (former) => former,
  });
  const people = (data?.subscribers ?? []).map((one) => ({
    id: one.id,
    name: one.email,
    description: nameOf(one) ?? "",
  }));
  const sample = { id: SAMPLE, name: "A sample person", description: "With a value in every field" };
  return (
    <div className="min-w-36 flex-1">
      <Picker
        label="As"
        value={person}
        options={text === "" ? [sample, ...people] : people}
        onChange={onPerson}
        onText={setText}
      />
    </div>
  );
}

/** Why the mail that is shown is not the newest: often a merge tag that is still being written. */
export function RenderFault({ error, onRetry }: { readonly error: unknown; readonly onRetry: () => void }) {
  const details = error instanceof PosthasteError ? error.details : [];
  return (
    <div className="absolute inset-x-0 bottom-0 border-t border-line bg-surface">
      {details.length === 0 ? (
        <Failure error={error} onRetry={onRetry} />
      ) : (
        <ul className="max-h-40 overflow-auto px-4 py-3">
          {details.map(({ field, message }) => (
            <li key={`${field} ${message}`} className="flex items-start gap-2">
              <TriangleAlert size={15} aria-hidden className="mt-0.5 shrink-0 text-warning" />
              {message}
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}
