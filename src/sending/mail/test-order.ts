/** The shapes of test mails: to whom a request sends one, and the messages of it. */
import { Type } from "typebox";

const MOST_TEST_RECIPIENTS = 5;

/** Addresses that get a test. */
export const testEmails = Type.Array(Type.String(), {
  minItems: 1,
  maxItems: MOST_TEST_RECIPIENTS,
  description: "Addresses that get the test.",
});

export const TestOrder = Type.Object({ emails: testEmails }, { $id: "TestOrder" });

export const TestSent = Type.Object({
  messages: Type.Array(
    Type.Object({
      id: Type.String({ description: "Id of the message." }),
      to: Type.String({ description: "Its recipient." }),
    }),
    { description: "The messages of the test." },
  ),
});
