/** What POST /emails said of a message: the other recipients of the email, tags and metadata. */
import { Link } from "@tanstack/react-router";
import { usePlace } from "../../api/session.tsx";
import { Fact } from "../../parts/facts.tsx";
import { MessageState } from "../../parts/state-mark.tsx";
import type { Message } from "./use-message.ts";

type Email = NonNullable<Message["email"]>;

/** The fields that name recipients, as mail programs write them. */
const names: Readonly<Record<Email["recipient_type"], string>> = { to: "To", cc: "Cc", bcc: "Bcc" };

/** As high as a finger needs, because the links are below each other. */
const LINK = "inline-block min-w-0 py-0.5 break-words text-accent hover:underline";

/** The messages to the other recipients, with their states. */
export function OtherRecipients({ email, own }: { readonly email: Email; readonly own: string }) {
  const { workspace } = usePlace();
  const others = email.messages.filter(({ id }) => id !== own);
  return (
    <>
      {email.recipient_type !== "to" && <Fact name="Recipient type">{names[email.recipient_type]}</Fact>}
      {others.length > 0 && (
        <Fact name="Other recipients">
          <ul aria-label="Other recipients of the email" className="whitespace-normal">
            {others.map(({ id, to, recipient_type, status }) => (
              <li key={id} className="flex flex-wrap items-baseline gap-x-2">
                <span className="text-muted">{names[recipient_type]}</span>
                <Link to={`/${workspace.id}/messages/${id}`} className={LINK}>
                  {to}
                </Link>
                <MessageState status={status} />
              </li>
            ))}
          </ul>
        </Fact>
      )}
    </>
  );
}

/** Each tag leads to the messages that have it. */
export function MessageTags({ tags }: { readonly tags: readonly string[] }) {
  const { workspace } = usePlace();
  return (
    <span className="flex flex-wrap gap-x-2 gap-y-1 whitespace-normal">
      {tags.map((tag) => (
        <Link key={tag} to={`/${workspace.id}/messages`} search={{ tag } as never} className={LINK}>
          {tag}
        </Link>
      ))}
    </span>
  );
}

/** Each value leads to the messages that have the same. */
export function MessageMetadata({ metadata }: Pick<Message, "metadata">) {
  const { workspace } = usePlace();
  const pairs = Object.entries(metadata);
  if (pairs.length === 0) return null;
  return (
    <Fact name="Metadata">
      <ul aria-label="Metadata" className="whitespace-normal">
        {pairs.map(([name, value]) => (
          <li key={name} className="flex flex-wrap items-baseline gap-x-2">
            <span className="break-all text-muted">{name}</span>
            <Link
              to={`/${workspace.id}/messages`}
              search={{ metadata: `${name}=${value}` } as never}
              className={LINK}
            >
              {value || "(empty)"}
            </Link>
          </li>
        ))}
      </ul>
    </Fact>
  );
}
