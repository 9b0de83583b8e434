// The tags of protobuf's fields (https://protobuf.dev/programming-guides/encoding/#structure): the number of the field
// in the schema, and how its content is written. Of one byte for the fields 1 to 15.

export const fieldWithNumber = (field: number): number => field << 3;
/** A string, a message, or packed numbers. */
export const fieldWithLength = (field: number): number => (field << 3) | 2;
