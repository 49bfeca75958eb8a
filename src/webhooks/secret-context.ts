/** What a receiver's secret is sealed for: its own row, so that no other row can hold it. */
export const secretContext = (webhookId: string): string => `webhook:${webhookId}`;
