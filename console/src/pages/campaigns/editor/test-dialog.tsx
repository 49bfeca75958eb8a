/** A test mail to oneself or others, made and sent like the campaign's. */
import schema from "schema:TestOrder";
import { useState } from "react";
import { Form } from "react-aria-components";
import { fieldErrors, useAct } from "../../../api/act.ts";
import { usePlace } from "../../../api/session.tsx";
import { Button } from "../../../parts/button.tsx";
import { Dialog } from "../../../parts/dialog.tsx";
import { Failure } from "../../../parts/failure.tsx";
import { LongField } from "../../../parts/long-field.tsx";
import { counted } from "../../../parts/numbers.ts";
import type { Check } from "../findings.tsx";
import { countsText } from "../findings.tsx";
import type { OpenDraft } from "./use-draft.ts";

interface Props {
  readonly open: OpenDraft;
  readonly check: Check | undefined;
  readonly onClose: () => void;
}

export function TestDialog({ open: { campaign, autosave }, check, onClose }: Props) {
  const { api, session } = usePlace();
  const [text, setText] = useState(session.person.email);
  const emails = text.split(/[\s,;]+/).filter(Boolean);
  const test = useAct({
    run: async () => {
      await autosave.saveNow();
      return api.testCampaign({ id: campaign.id, body: { emails } });
    },
    changes: ["messages"],
    done: ({ messages }) => `The test is sent to ${messages.map(({ to }) => to).join(", ")}`,
    onDone: onClose,
  });
  const most = schema.properties.emails?.maxItems;
  const errors = fieldErrors(test.error);
  return (
    <Dialog title="Send a test" isOpen onClose={onClose}>
      <Form
        validationErrors={errors}
        onSubmit={(event) => {
          event.preventDefault();
          test.mutate();
        }}
        className="flex flex-col gap-4"
      >
        <LongField
          name="emails"
          label="To"
          rows={2}
          value={text}
          onChange={setText}
          isRequired
          autoFocus
          hint={`${most === undefined ? "Addresses" : `At most ${most} addresses`}, separated by blanks or commas. The address of a subscriber gets that person's values, any other one sample values.`}
        />
        {check && <p className="text-muted">The check of the saved version: {countsText(check.counts)}.</p>}
        {test.error && <Failure error={test.error} />}
        <div className="flex justify-end gap-2">
          <Button onPress={onClose}>Cancel</Button>
          <Button type="submit" kind="primary" isPending={test.isPending}>
            Send the test to {counted(emails.length, "address", "addresses")}
          </Button>
        </div>
      </Form>
    </Dialog>
  );
}
