/** Whom the campaign is from, and whether the domain of that address is ready. */
import { Link } from "@tanstack/react-router";
import { useDomains, useVerifiedSenders } from "../../../api/domains.ts";
import { useLists } from "../../../api/lists.ts";
import { usePlace } from "../../../api/session.tsx";
import { Field } from "../../../parts/field.tsx";
import { SuggestedText } from "../../../parts/picker.tsx";
import { StateMark } from "../../../parts/state-mark.tsx";
import { PlaceLink } from "../../../shell/place-link.tsx";
import { textOrNull } from "./draft.ts";
import type { OpenDraft } from "./use-draft.ts";

export function FromStep({ draft, edit }: OpenDraft) {
  const lists = useLists();
  const list = lists?.find(({ id }) => id === draft.mailing_list_id);
  return (
    <div className="flex max-w-xl flex-col gap-5">
      <div>
        <SenderField
          value={draft.from_email}
          onChange={(from_email) => edit({ from_email })}
          listAddress={list?.from_email ?? null}
        />
        <SenderReadiness email={draft.from_email} />
      </div>
      <Field
        label="Name"
        value={draft.from_name ?? ""}
        placeholder={list?.from_name ?? ""}
        hint={list?.from_name ? `Without a name: “${list.from_name}”, that of the list.` : undefined}
        onChange={(text) => edit({ from_name: textOrNull(text) })}
      />
      <Field
        label="Reply to"
        type="email"
        value={draft.reply_to ?? ""}
        placeholder={list?.reply_to_email ?? draft.from_email}
        hint={
          list?.reply_to_email
            ? `Without an address: ${list.reply_to_email}, that of the list.`
            : "Without an address, replies go to the sender."
        }
        onChange={(text) => edit({ reply_to: textOrNull(text.trim()) })}
      />
    </div>
  );
}

/** Any address; those that may send are offered. */
export function SenderField({
  value,
  onChange,
  listAddress = null,
  name,
  label = "Address",
}: {
  readonly value: string;
  readonly onChange: (email: string) => void;
  readonly listAddress?: string | null;
  readonly name?: string;
  readonly label?: string;
}) {
  const { data: senders = [] } = useVerifiedSenders();
  const { data: domains = [] } = useDomains();
  const [local = ""] = value.split("@");
  const addresses = [
    ...(listAddress ? [{ id: listAddress, description: "The list's sender" }] : []),
    ...senders
      .filter(({ is_verified }) => is_verified)
      .map(({ email, from_name }) => ({ id: email, description: from_name })),
    ...domains
      .filter(({ is_verified, is_active }) => is_verified && is_active)
      .map(({ domain }) => ({
        id: `${local || "hello"}@${domain}`,
        description: "Your domain: any name before the @",
      })),
  ];
  const known = [...new Map(addresses.map((one) => [one.id, { ...one, name: one.id }])).values()];
  return (
    <SuggestedText
      label={label}
      {...(name && { name })}
      options={known}
      value={value}
      onChange={onChange}
      isRequired
    />
  );
}

/** What the records of the sender's domain say. */
export function SenderReadiness({ email }: { readonly email: string }) {
  const { workspace } = usePlace();
  const senders = useVerifiedSenders().data;
  const domains = useDomains().data;
  const host = email.split("@")[1]?.toLowerCase() ?? "";
  const domain = domains?.find((one) => host === one.domain || host.endsWith(`.${one.domain}`));
  const sender = senders?.find((one) => one.email === email.toLowerCase());
  if (domain) {
    const checks = [
      ["Ownership", domain.is_verified],
      ["SPF", domain.spf_verified],
      ["DKIM", domain.dkim_verified],
      ["DMARC", domain.dmarc_verified],
    ] as const;
    return (
      <p className="mt-2 flex min-h-6 flex-wrap items-center gap-x-4 gap-y-1 text-small">
        <Link to={`/${workspace.id}/domains/${domain.id}`} className="text-accent hover:underline">
          {domain.domain}
        </Link>
        {checks.map(([word, isGood]) => (
          <StateMark
            key={word}
            shape={isGood ? "●" : "▲"}
            tone={isGood ? "text-good" : "text-warning"}
            word={isGood ? word : `${word} missing`}
          />
        ))}
      </p>
    );
  }
  if (sender?.is_verified) {
    return (
      <p className="mt-2 min-h-6 text-small text-muted">
        Its owner has confirmed this address. Mail from a domain of your own reaches more inboxes.
      </p>
    );
  }
  // Without both lists, because they are not loaded or the role may not see one, nothing is known about the address.
  if (host === "" || senders === undefined || domains === undefined) return <p className="mt-2 min-h-6" />;
  return (
    <p className="mt-2 min-h-6 text-small">
      <StateMark
        shape="▲"
        tone="text-bad"
        word={
          sender ? "The owner of this address has not confirmed it" : `Your domains do not include ${host}`
        }
      />{" "}
      <PlaceLink to="domains" className="text-accent hover:underline">
        Domains & senders
      </PlaceLink>
    </p>
  );
}
