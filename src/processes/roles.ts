/** The parts of the service, each of which may run on machines of its own. */
export const roles = ["api", "delivery", "jobs", "inbound"] as const;

export type Role = (typeof roles)[number];
