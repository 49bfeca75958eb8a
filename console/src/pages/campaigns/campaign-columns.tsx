/** The columns of the list of campaigns: each rate with its base, and a bar against the average of the page. */
/* oxlint-disable jsx-a11y/click-events-have-key-events, jsx-a11y/no-static-element-interactions -- of the one press that is kept from its row, below */
import type { Schema } from "@posthaste/client";
import { Mail, MessageSquareText } from "lucide-react";
import type { ReactNode } from "react";
import type { Column } from "../../parts/data-table.tsx";
import { countText, rateText } from "../../parts/numbers.ts";
import { Time } from "../../parts/time.tsx";
import { CampaignState } from "./campaign-state.tsx";

export type CampaignRow = Schema<"CampaignSummary">;

const FEW = 100;

/** What is counted of the delivered messages. */
const counts = {
  opened: (row: CampaignRow) => row.unique_open_count,
  clicked: (row: CampaignRow) => row.unique_click_count,
  unsubscribed: (row: CampaignRow) => row.unsubscribe_count,
  complained: (row: CampaignRow) => row.complaint_count,
} as const;

/** Shares of the delivered messages of several campaigns. */
export type Averages = Readonly<Record<keyof typeof counts, number>>;

export function averagesOf(rows: readonly CampaignRow[]): Averages {
  const delivered = rows.reduce((sum, row) => sum + row.delivered_count, 0);
  const share = (count: (row: CampaignRow) => number) =>
    delivered === 0 ? 0 : rows.reduce((sum, row) => sum + count(row), 0) / delivered;
  return {
    opened: share(counts.opened),
    clicked: share(counts.clicked),
    unsubscribed: share(counts.unsubscribed),
    complained: share(counts.complained),
  };
}

export function campaignColumns(
  acts: (row: CampaignRow) => ReactNode,
  averages: Averages | undefined,
): readonly Column<CampaignRow>[] {
  const rate = (id: keyof typeof counts, head: string) => rateColumn(id, head, averages?.[id] ?? 0);
  return [
    { id: "state", head: "State", width: "108px", cell: (row) => <CampaignState status={row.status} /> },
    { id: "name", head: "Campaign", cell: (row) => <Name row={row} /> },
    { id: "audience", head: "Audience", width: "116px", isSecondary: true, cell: audienceOf },
    { id: "time", head: "Sent", width: "136px", isSecondary: true, cell: (row) => <When row={row} /> },
    {
      id: "delivered",
      head: "Delivered",
      width: "88px",
      isNumeric: true,
      isSecondary: true,
      cell: (row) => <Delivered row={row} />,
    },
    rate("opened", "Opened"),
    rate("clicked", "Clicked"),
    rate("unsubscribed", "Unsub."),
    rate("complained", "Spam"),
    {
      id: "acts",
      head: "Acts",
      width: "56px",
      cell: (row) => (
        // biome-ignore lint/a11y/noStaticElementInteractions: only keeps a press on the menu from opening the row
        // biome-ignore lint/a11y/useKeyWithClickEvents: as above
        <span className="-my-1 flex justify-end" onClick={(event) => event.stopPropagation()}>
          {acts(row)}
        </span>
      ),
    },
  ];
}

function Name({ row: { name, subject, message_type } }: { readonly row: CampaignRow }) {
  const Icon = message_type === "sms" ? MessageSquareText : Mail;
  return (
    <span className="flex min-w-0 items-center gap-2" title={`${name} · ${subject}`}>
      <Icon size={14} aria-label={message_type === "sms" ? "SMS" : "Email"} className="shrink-0 text-muted" />
      <span className="min-w-0 truncate">
        <span className="font-medium">{name}</span>
        {subject !== name && <span className="ml-2 text-muted">{subject}</span>}
      </span>
    </span>
  );
}

function audienceOf({ recipient_type, segment_name, mailing_list_name }: CampaignRow): ReactNode {
  if (recipient_type === "custom") return "Conditions";
  const name = recipient_type === "segment" ? segment_name : mailing_list_name;
  return name ?? <span className="text-muted">None</span>;
}

function When({ row: { status, scheduled_at, sent_at } }: { readonly row: CampaignRow }) {
  if (sent_at !== null) return <Time at={sent_at} />;
  if (status === "draft" || scheduled_at === null) return null;
  return (
    <span className="text-muted">
      for <Time at={scheduled_at} />
    </span>
  );
}

/** The number of delivered messages; how far it is while it runs. */
function Delivered({
  row: { status, sent_count, total_recipients, delivered_count },
}: {
  readonly row: CampaignRow;
}) {
  const isUnderWay =
    (status === "sending" || status === "paused" || status === "cancelled") && sent_count < total_recipients;
  if (isUnderWay) {
    return (
      <Bar
        share={total_recipients === 0 ? 0 : sent_count / total_recipients}
        title={`${countText(sent_count)} of ${countText(total_recipients)} are sent`}
      >
        {`${countText(Math.floor((100 * sent_count) / Math.max(1, total_recipients)))} %`}
      </Bar>
    );
  }
  return sent_count === 0 ? null : countText(delivered_count);
}

function rateColumn(id: keyof typeof counts, head: string, average: number): Column<CampaignRow> {
  return {
    id,
    head,
    width: "76px",
    isNumeric: true,
    isSecondary: true,
    cell: (row) => {
      const { delivered_count } = row;
      if (delivered_count === 0) return null;
      const count = counts[id](row);
      const share = count / delivered_count;
      return (
        <Bar
          // The middle of the bar is the average.
          share={average === 0 ? 0 : share / (2 * average)}
          hasMiddle={average > 0}
          title={`${countText(count)}: ${rateText(count, delivered_count)} delivered, ${percent(average)} on average`}
          isFaint={delivered_count < FEW}
        >
          {percent(share)}
        </Bar>
      );
    },
  };
}

function percent(share: number): string {
  return `${(100 * share).toFixed(1)} %`;
}

/** A number over a bar that is as long as its share. */
function Bar({
  share,
  title,
  isFaint = false,
  hasMiddle = false,
  children,
}: {
  readonly share: number;
  readonly title: string;
  readonly isFaint?: boolean;
  readonly hasMiddle?: boolean;
  readonly children: string;
}) {
  return (
    <span className="block" title={title}>
      <span className={`block leading-4 ${isFaint ? "text-muted" : ""}`}>
        {children}
        <span className="sr-only">, {title}</span>
      </span>
      <span aria-hidden className="relative mt-0.5 block h-[3px] rounded-full bg-line/60">
        <span
          className={`block h-full rounded-full ${isFaint ? "bg-control/60" : "bg-accent"}`}
          style={{ width: `${Math.min(100, 100 * share)}%` }}
        />
        {hasMiddle && <span className="absolute -top-px left-1/2 block h-[5px] w-px bg-text" />}
      </span>
    </span>
  );
}
