/** The question of support: may these addresses be mailed, and if not, why? */
import body from "schema:SuppressionSearch";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { mayCall, usePlace } from "../../api/session.tsx";
import { type Finding, findingsQuery } from "../../api/suppression.ts";
import { Failure } from "../../parts/failure.tsx";
import { LongField } from "../../parts/long-field.tsx";
import { countText } from "../../parts/numbers.ts";
import { useSettled } from "../../parts/use-settled.ts";
import { PersonState } from "../people/person-state.tsx";
import { Blocks, FindingSentence } from "./finding.tsx";

const MOST = body.properties.addresses?.maxItems ?? 1;
const SETTLE_MS = 300;

export function AddressCheck() {
  const place = usePlace();
  const [text, setText] = useState("");
  const asked = addressesOf(useSettled(text, SETTLE_MS)).slice(0, MOST);
  const { data, error, refetch, isPlaceholderData } = useQuery({
    ...findingsQuery(place, asked),
    placeholderData: keepPreviousData,
  });
  const count = addressesOf(text).length;
  const findings = asked.length === 0 || text.trim() === "" ? undefined : data;
  return (
    <section aria-label="Why does an address get no mail?" className="pb-5">
      <LongField
        label="May these addresses be mailed?"
        hint={
          count > MOST
            ? `${countText(count)} addresses: only the first ${MOST} are looked up at a time.`
            : `Paste one address or up to ${MOST}, one a line or separated by commas.`
        }
        placeholder="ada@example.com"
        rows={4}
        spellCheck="false"
        value={text}
        onChange={setText}
      />
      {error && (
        <div className="mt-3">
          <Failure error={error} onRetry={() => void refetch()} />
        </div>
      )}
      {findings && findings.length > 0 && (
        <div
          className={`mt-4 transition-opacity duration-100 ${isPlaceholderData ? "opacity-60 delay-300" : ""}`}
        >
          {findings.length > 1 && (
            <p role="status" className="mb-2 font-medium">
              {countText(findings.filter((one) => one.may_be_mailed).length)} of {countText(findings.length)}{" "}
              may be mailed
            </p>
          )}
          <ul>
            {blockedFirst(findings).map((finding) => (
              <FindingRow key={finding.address} finding={finding} />
            ))}
          </ul>
        </div>
      )}
    </section>
  );
}

function FindingRow({ finding }: { readonly finding: Finding }) {
  const { workspace } = usePlace();
  const { blocks, mailing_lists, subscriber_id } = finding;
  return (
    <li className="border-t border-line/60 py-3">
      <div className="flex flex-wrap items-baseline gap-x-4 gap-y-1">
        <div className="min-w-0 flex-1 basis-64">
          <FindingSentence finding={finding} />
        </div>
        {subscriber_id ? (
          mayCall(workspace, "getSubscriber") && (
            <Link to={`/${workspace.id}/people/${subscriber_id}`} className="text-accent hover:underline">
              Open the person
            </Link>
          )
        ) : (
          <span className="text-muted">On no list</span>
        )}
      </div>
      {mailing_lists.length > 0 && (
        <ul className="mt-1 flex flex-wrap gap-x-5 gap-y-1 pl-5 text-table">
          {mailing_lists.map((list) => (
            <li key={list.mailing_list_id} className="flex min-w-0 items-center gap-2">
              <span className="truncate text-muted">{list.name}</span>
              <PersonState status={list.status} />
            </li>
          ))}
        </ul>
      )}
      {blocks.length > 0 && (
        <div className="mt-2">
          <Blocks blocks={blocks} />
        </div>
      )}
    </li>
  );
}

function addressesOf(text: string): readonly string[] {
  const words = text.split(/[\n,;]+/).map((one) => one.trim());
  return [...new Set(words.filter((one) => one !== ""))];
}

function blockedFirst(findings: readonly Finding[]): readonly Finding[] {
  return findings.toSorted((a, b) => Number(a.may_be_mailed) - Number(b.may_be_mailed));
}
