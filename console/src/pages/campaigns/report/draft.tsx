/** A draft for those who do not write: to read, and to send or leave. */
import type { Data } from "@posthaste/client";
import { useState } from "react";
import { mayCall, usePlace } from "../../../api/session.tsx";
import { Button } from "../../../parts/button.tsx";
import { SendSheet } from "../send/send-sheet.tsx";
import { Content } from "./content.tsx";

export function Draft({ campaign }: { readonly campaign: Data<"getCampaign"> }) {
  const { workspace } = usePlace();
  const [isSending, setSending] = useState(false);
  const close = () => setSending(false);
  return (
    <>
      <div className="flex flex-wrap items-center gap-4 pb-5">
        <div className="flex-1">
          <p className="text-[17px] leading-6">A draft: nothing of it is sent yet.</p>
          <p className="mt-1 text-muted">Your role ({workspace.role.name}) may not change it.</p>
        </div>
        {mayCall(workspace, "sendCampaign") && (
          <Button kind="primary" onPress={() => setSending(true)}>
            Send …
          </Button>
        )}
      </div>
      <div className="border-t border-line pt-5">
        <Content campaign={campaign} />
      </div>
      {isSending && <SendSheet campaignId={campaign.id} onClose={close} onSent={close} />}
    </>
  );
}
