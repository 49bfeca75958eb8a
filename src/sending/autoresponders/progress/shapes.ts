/** The shapes of the progress of a series: figures of its steps, people who wait, and one person's mails. */
import { Type } from "typebox";
import { described, Id, nullable, Timestamp } from "#platform/shapes.ts";
import { Delay } from "#sending/autoresponders/delay.ts";

const Count = Type.Integer({ minimum: 0 });
const person = {
  subscriber_id: described(Id, "Id of the subscriber."),
  email: Type.String({ description: "Address of the subscriber." }),
  first_name: nullable(Type.String({ description: "First name; null if unknown." })),
  last_name: nullable(Type.String({ description: "Last name; null if unknown." })),
};
const step = {
  step_id: described(Id, "Id of the step."),
  position: Type.Integer({ minimum: 1, description: "Place in the series, from 1." }),
  subject: Type.String({ description: "The subject, with merge tags." }),
};

const StepFigures = Type.Object(
  {
    ...step,
    delay: described(Type.Required(Delay), "Time after the trigger, or after the step before."),
    waiting_count: Type.Integer({
      minimum: 0,
      description:
        "People whose next mail is this one. It includes people who have left the list, until their time comes.",
    }),
    waiting_count_is_exact: Type.Boolean({
      description: "False if more may wait: beyond 100,000 they are not counted.",
    }),
    next_mail_at: nullable(
      described(
        Timestamp,
        "When the first of them gets the mail; in the past if plan, balance or hourly cap do not cover it. Null if no person waits, and while the autoresponder is inactive.",
      ),
    ),
    queued_count: described(Count, "Messages in the queue, deferred ones included."),
    sent_count: described(Count, "Messages that had their first attempt."),
    delivered_count: described(Count, "Messages that a server accepted."),
    open_count: described(Count, "Opens by people."),
    unique_open_count: described(Count, "Messages that were opened or clicked."),
    click_count: described(Count, "Clicks by people."),
    unique_click_count: described(Count, "Messages in which a person clicked."),
    bounce_count: described(Count, "Messages that bounced."),
    complaint_count: described(Count, "Messages that were reported as spam."),
    unsubscribe_count: described(Count, "People who unsubscribed by one of its messages."),
    failed_count: described(Count, "Messages that could not be sent for another reason than a bounce."),
  },
  { $id: "AutoresponderStepFigures" },
);

export const StepFiguresList = Type.Object({
  steps: Type.Array(StepFigures, { description: "The steps in their order, 20 at most." }),
});

export const WaitingPerson = Type.Object(
  {
    ...person,
    step_id: described(Id, "The step of their next mail."),
    started_at: described(Timestamp, "When the series began for them: the time of joining, or the day."),
    next_mail_at: nullable(
      described(Timestamp, "When they get the next mail; null while the autoresponder is inactive."),
    ),
    continues: Type.Boolean({
      description:
        "False if the series ends when the time comes: they have left the list since, or its list or trigger was changed.",
    }),
  },
  { $id: "WaitingPerson" },
);

export const obstacles = [
  "not_a_member",
  "unsubscribed",
  "suppressed",
  "invalid",
  "left",
  "no_date",
  "date_has_passed",
] as const;

const PlannedMail = Type.Object(
  {
    ...step,
    state: Type.Enum(["sent", "planned", "skipped"], {
      description:
        "`sent`: the mail was written; `planned`: it comes at this time, unless there is an `obstacle`; `skipped`: the person's place in the series is behind it.",
    }),
    at: nullable(
      described(
        Timestamp,
        "When the mail was written, comes, or would come. While the autoresponder is inactive: as if it were activated now. Null if it is skipped or has no time.",
      ),
    ),
    message_id: nullable(
      described(Id, "The message of a sent mail, which may have left the log. Null otherwise."),
    ),
  },
  { $id: "PlannedMail" },
);

export const SeriesWalk = Type.Object(
  {
    ...person,
    progress: Type.Enum(["not_started", "waiting", "finished"], {
      description: "Where the person is in the newest round of the series.",
    }),
    started_at: nullable(
      described(Timestamp, "When that round began: the time of joining, or the day. Null if it has not."),
    ),
    next_start_at: nullable(
      described(
        Timestamp,
        "When a round begins, or would begin: now, as if the person joined now, or on the next day of a date trigger. Null while one goes on, and if none comes.",
      ),
    ),
    obstacle: nullable(
      Type.Enum([...obstacles], {
        description:
          "Why the person gets no mail as things are. `not_a_member`: is not on the list; `unsubscribed`, `invalid`, `suppressed`: gets no mail of the list, because of the status there, the address, or a suppression list; `left`: has left the list since the round began, or list or trigger were changed; `no_date`: has no date in the field of the trigger; `date_has_passed`: the date does not come again. Null if nothing prevents it.",
      }),
    ),
    mails: Type.Array(PlannedMail, { description: "The mails of the series, in order." }),
  },
  { $id: "SeriesWalk" },
);
