/** One message, in the panel beside the list and on a page of its own. */
import { Link } from "@tanstack/react-router";
import { mayCall, usePlace } from "../../api/session.tsx";
import { Copyable } from "../../parts/copyable.tsx";
import { Fact, Facts } from "../../parts/facts.tsx";
import { MessageState } from "../../parts/state-mark.tsx";
import { Tabs } from "../../parts/tabs.tsx";
import { Time } from "../../parts/time.tsx";
import { MessageActs } from "./message-acts.tsx";
import { MessageHeaders, MessagePreview, MessageSource, MessageText } from "./message-content.tsx";
import { MessageMetadata, MessageTags, OtherRecipients } from "./message-email.tsx";
import { MessageStory } from "./message-story.tsx";
import { MessageTimeline } from "./message-timeline.tsx";
import type { Message } from "./use-message.ts";

export function MessageView({ message }: { readonly message: Message }) {
  const { workspace } = usePlace();
  const { id, timeline } = message;
  const mayRead = mayCall(workspace, "getMessageContent");
  const content = [
    { id: "preview", name: "Preview", content: () => <MessagePreview id={id} /> },
    { id: "text", name: "Text", content: () => <MessageText id={id} /> },
    { id: "headers", name: "Headers", content: () => <MessageHeaders id={id} /> },
    { id: "source", name: "Source", content: () => <MessageSource id={id} /> },
  ];
  return (
    <>
      <MessageStory message={message} />
      <MessageActs message={message} />
      <MessageFacts message={message} />
      <div className="px-5 pb-10">
        <Tabs
          label="The message"
          views={[
            { id: "events", name: "Events", content: () => <MessageTimeline entries={timeline} /> },
            ...(mayRead ? content : []),
          ]}
        />
      </div>
    </>
  );
}

function MessageFacts({ message }: { readonly message: Message }) {
  const { workspace } = usePlace();
  const { to, from_email, source, origin_id, origin_name, time, id, request_id, status } = message;
  const { email, scheduled_at, tags, metadata } = message;
  return (
    <div className="px-5 pt-4 pb-3">
      <Facts>
        <Fact name="State">
          <MessageState status={status} />
        </Fact>
        <Fact name="To">
          <Copyable text={to} label="address" isMono={false} />
        </Fact>
        {email && <OtherRecipients email={email} own={id} />}
        <Fact name="From">{from_email}</Fact>
        <Fact name="Sent by">
          {source === "campaign" && origin_id && mayCall(workspace, "getCampaign") ? (
            <Link to={`/${workspace.id}/campaigns/${origin_id}`} className="text-accent hover:underline">
              {origin_name}
            </Link>
          ) : (
            origin_name
          )}
        </Fact>
        <Fact name="Accepted">
          <Time at={time} isPrecise />
        </Fact>
        {scheduled_at && (
          <Fact name="Scheduled for">
            <Time at={scheduled_at} isPrecise />
          </Fact>
        )}
        {tags.length > 0 && (
          <Fact name="Tags">
            <MessageTags tags={tags} />
          </Fact>
        )}
        <MessageMetadata metadata={metadata} />
        <Fact name="Id">
          <Copyable text={id} label="message id" />
        </Fact>
        {request_id && (
          <Fact name="Request">
            <Copyable text={request_id} label="request id" />
          </Fact>
        )}
        <Fact name="Others">
          <Link
            to={`/${workspace.id}/messages`}
            search={{ email: to } as never}
            className="text-accent hover:underline"
          >
            Messages to this address
          </Link>
        </Fact>
      </Facts>
    </div>
  );
}

/** Of the height of what comes, while the message loads. */
export function MessageSkeleton() {
  return (
    <div aria-hidden className="px-5 py-4">
      <div className="h-6 w-3/4 animate-appear rounded bg-sunken" />
      <div className="mt-8 h-44 animate-appear rounded bg-sunken" />
      <div className="mt-8 h-56 animate-appear rounded bg-sunken" />
    </div>
  );
}
