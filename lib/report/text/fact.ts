/** A line of the head of a report. */
export type Fact = [label: string, value: string];
