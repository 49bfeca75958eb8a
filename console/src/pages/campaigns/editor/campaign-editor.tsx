/** The editor of a draft: four steps in any order, and the mail as it will be sent beside them. */
import { useQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { type ReactNode, useRef, useState } from "react";
import { Tab, TabList, TabPanel, Tabs } from "react-aria-components";
import { useLists } from "../../../api/lists.ts";
import { usePlace } from "../../../api/session.tsx";
import type { CodeEditorHandle } from "../../../parts/code-editor.tsx";
import { Empty } from "../../../parts/empty.tsx";
import { Failure } from "../../../parts/failure.tsx";
import { counted } from "../../../parts/numbers.ts";
import { FailedCampaign, WaitingCampaign } from "../campaign-loading.tsx";
import { type Check, countsText, type Finding } from "../findings.tsx";
import { useCheck } from "../use-check.ts";
import { type ContentPart, ContentStep } from "./content-step.tsx";
import type { Campaign, Draft } from "./draft.ts";
import { EditorHeader } from "./editor-header.tsx";
import { FromStep } from "./from-step.tsx";
import { Notices } from "./notices.tsx";
import { PreviewPane, SAMPLE } from "./preview-pane.tsx";
import { SendStep } from "./send-step.tsx";
import { SmsPreview } from "./sms-preview.tsx";
import { SmsStep } from "./sms-step.tsx";
import { ToStep } from "./to-step.tsx";
import { type OpenDraft, useDraft } from "./use-draft.ts";
import { type Order, useRender } from "./use-render.ts";
import { useSentElsewhere } from "./use-sent-elsewhere.ts";

interface Props {
  readonly id: string;
  /** Called when the campaign may not be a draft any more. */
  readonly onChanged: () => void;
}

export function CampaignEditor({ id, onChanged }: Props) {
  const { api, workspace } = usePlace();
  const { data, error, refetch } = useQuery({
    queryKey: ["campaign-draft", workspace.id, id],
    queryFn: ({ signal }) => api.getCampaign({ id, query: { without: "attachments" }, signal }),
    // What is open is never replaced under the hands of the person; each opening loads it again.
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
  });
  if (error) return <FailedCampaign error={error} onRetry={() => void refetch()} />;
  if (!data) return <WaitingCampaign />;
  return <OpenEditor campaign={data} onChanged={onChanged} />;
}

const steps = ["to", "from", "content", "send"] as const;
type Step = (typeof steps)[number];

function OpenEditor({
  campaign,
  onChanged,
}: {
  readonly campaign: Campaign;
  readonly onChanged: () => void;
}) {
  const open = useDraft(campaign);
  const { draft } = open;
  useSentElsewhere(open, onChanged);
  const { step, go } = useStep();
  const [part, setPart] = useState<ContentPart>("html");
  const [person, setPerson] = useState(SAMPLE);
  const [showsPreview, setShowsPreview] = useState(false);
  const html = useRef<CodeEditorHandle>(null);
  const text = useRef<CodeEditorHandle>(null);
  const isSms = campaign.message_type === "sms";
  const rendering = useRender(orderOf(campaign, draft, person), () =>
    isSms ? undefined : html.current?.anchored(),
  );
  const Preview = isSms ? SmsPreview : PreviewPane;
  const { check, error, isChecking, again } = useCheck(campaign, open.state.revision, { isWriting: true });

  const jump = ({ field, line, column }: Finding) => {
    setShowsPreview(false);
    go(stepOf(field));
    if (field === "html_content") setPart("html");
    if (field === "text_content") setPart("text");
    if (field === "attachments") setPart("files");
    const editor = field === "text_content" ? text : html;
    // The editor is shown with the next frame.
    if (line !== null) setTimeout(() => editor.current?.jumpTo(line, column ?? 1), 60);
  };

  return (
    <div className="flex h-full min-h-0 flex-col">
      <EditorHeader
        open={open}
        check={check}
        onChanged={onChanged}
        onFinding={jump}
        showsPreview={showsPreview}
        onPreview={() => setShowsPreview(!showsPreview)}
      />
      <Notices open={open} onChanged={onChanged} />
      <div className="grid min-h-0 flex-1 lg:grid-cols-[minmax(0,1fr)_minmax(340px,44%)]">
        <Tabs
          selectedKey={step}
          onSelectionChange={(next) => go(String(next) as Step)}
          className={`flex min-h-0 min-w-0 flex-col outline-none ${showsPreview ? "max-lg:hidden" : ""}`}
        >
          <TabList aria-label="Steps" className="grid shrink-0 grid-cols-4 border-y border-line">
            <StepTab id="to" name="To" state={<Audience open={open} check={check} />} />
            <StepTab id="from" name="From" state={draft.from_email} />
            <StepTab id="content" name="Content" state={isSms ? "SMS" : draft.subject || "No subject"} />
            <StepTab id="send" name="Send" state={check ? countsText(check.counts) : ""} />
          </TabList>
          <StepPanel id="to">
            <ToStep {...open} check={check} />
          </StepPanel>
          <StepPanel id="from">
            <FromStep {...open} />
          </StepPanel>
          <TabPanel
            id="content"
            shouldForceMount
            className="min-h-0 flex-1 overflow-auto pt-4 data-[inert]:hidden"
          >
            {isSms ? (
              <SmsStep open={open} check={check} textEditor={text} />
            ) : (
              <ContentStep
                open={open}
                part={part}
                onPart={setPart}
                check={check}
                mail={rendering.mail}
                htmlEditor={html}
                textEditor={text}
              />
            )}
          </TabPanel>
          <StepPanel id="send">
            {error && <Failure error={error} onRetry={again} />}
            <SendStep open={open} check={check} isChecking={isChecking} onJump={jump} />
          </StepPanel>
        </Tabs>
        <div className={`min-h-0 min-w-0 border-t border-line ${showsPreview ? "" : "max-lg:hidden"}`}>
          {isWritten(campaign, draft) ? (
            <Preview rendering={rendering} person={person} onPerson={setPerson} />
          ) : (
            <section aria-label="Preview" className="h-full border-line bg-sunken lg:border-l">
              <Empty title="Nothing is written yet">
                {isSms ? "The SMS" : "The mail"} appears here while you write it.
              </Empty>
            </section>
          )}
        </div>
      </div>
    </div>
  );
}

function StepTab({
  id,
  name,
  state,
}: {
  readonly id: Step;
  readonly name: string;
  readonly state: ReactNode;
}) {
  return (
    <Tab
      id={id}
      className="min-w-0 cursor-default border-b-2 border-transparent px-4 py-2 -outline-offset-2 hover:bg-sunken/60 max-md:px-2 data-[selected]:border-accent"
    >
      <span className="block font-medium">{name}</span>
      <span className="block h-5 truncate text-small text-muted max-md:hidden">{state}</span>
    </Tab>
  );
}

function StepPanel({ id, children }: { readonly id: Step; readonly children: ReactNode }) {
  return (
    <TabPanel id={id} className="min-h-0 flex-1 overflow-auto px-6 py-5 -outline-offset-2">
      {children}
    </TabPanel>
  );
}

function Audience({ open, check }: { readonly open: OpenDraft; readonly check: Check | undefined }) {
  const lists = useLists();
  const list = lists?.find(({ id }) => id === open.draft.mailing_list_id);
  if (check?.audience) return counted(check.audience.will_send, "person", "people");
  return list?.name ?? "Not chosen yet";
}

/** The step is part of the address. */
function useStep() {
  const search = useSearch({ strict: false }) as { readonly step?: string };
  const navigate = useNavigate();
  const step = steps.find((one) => one === search.step) ?? "content";
  const go = (next: Step) => navigate({ to: ".", search: { ...search, step: next } as never, replace: true });
  return { step, go: (next: Step) => void go(next) };
}

function stepOf(field: string | null): Step {
  if (/^(?:mailing_list_id|segment_)/.test(field ?? "")) return "to";
  if (/^(?:from_|reply_to)/.test(field ?? "")) return "from";
  return /^(?:subject|html_content|text_content|attachments|phone_)/.test(field ?? "") ? "content" : "send";
}

function isWritten({ message_type }: Campaign, { html_content, text_content }: Draft): boolean {
  return text_content !== null || (html_content !== null && message_type === "email");
}

/** What to render: the draft as it is on the page, saved or not. */
function orderOf(campaign: Campaign, draft: Draft, person: string): Order | undefined {
  if (!isWritten(campaign, draft)) return undefined;
  const { subject, html_content, text_content, from_email, from_name, reply_to, mailing_list_id } = draft;
  return {
    campaign_id: campaign.id,
    ...(campaign.message_type === "sms" && { phone_field_name: draft.phone_field_name }),
    html_content,
    text_content,
    from_name,
    reply_to,
    mailing_list_id,
    // An empty value would be refused, and the stored one is shown in its place.
    ...(subject !== "" && { subject }),
    ...(from_email.includes("@") && { from_email }),
    ...(person === SAMPLE ? { sample: true } : { subscriber_id: person }),
  };
}
