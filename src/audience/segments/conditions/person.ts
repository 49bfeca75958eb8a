/** A person as conditions are evaluated on: the row of subscribers, and all memberships. */
import type { SubscriberStatus } from "#audience/subscribers/memberships/status.ts";

export interface Membership {
  readonly status: SubscriberStatus;
  readonly subscribed_at: Date;
  readonly unsubscribed_at: Date | null;
}

/** What a person did with the mail of a campaign. */
export interface Receipt {
  /** A click counts as an opening. */
  readonly hasOpened: boolean;
  readonly hasClicked: boolean;
  readonly hasUnsubscribed: boolean;
  /** Indexes of the links that the person clicked. */
  readonly links: ReadonlySet<number>;
}

export interface Person {
  readonly email: string;
  readonly email_domain: string;
  readonly first_name: string | null;
  readonly last_name: string | null;
  readonly source: string | null;
  readonly custom_fields: Readonly<Record<string, unknown>>;
  readonly created_at: Date;
  readonly last_sent_at: Date | null;
  readonly last_opened_at: Date | null;
  readonly last_clicked_at: Date | null;
  readonly sent_count: number;
  /** Tracking pixels loaded. */
  readonly open_count: number;
  /** Messages opened or clicked. */
  readonly unique_open_count: number;
  readonly click_count: number;
  readonly engagement_score: number;
  /** By mailing list id. */
  readonly memberships: ReadonlyMap<string, Membership>;
  /** The campaigns that the person is a recipient of, by id. */
  readonly campaigns: ReadonlyMap<string, Receipt>;
}
