// The other views.
export async function viewTests() {}
