//! Sockets between workers, and how they are handed over: through another socket, so that no process has one that is not its own.

use rustix::io::Errno;
use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage, SendFlags,
    recvmsg, sendmsg,
};
use std::io::{self, IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;

/// This many sockets can be handed over at once.
pub(crate) const SOCKETS_MAX: usize = 63;

/// A socket from each worker to each other one; in the place of the one to itself there is none.
pub(crate) fn mesh(workers: usize) -> io::Result<Vec<Vec<Option<UnixStream>>>> {
    let mut all: Vec<Vec<Option<UnixStream>>> = Vec::new();
    for _ in 0..workers {
        let mut sockets = Vec::new();
        for other in &mut all {
            let (here, there) = UnixStream::pair()?;
            other.push(Some(there));
            sockets.push(Some(here));
        }
        sockets.push(None);
        all.push(sockets);
    }
    Ok(all)
}

/// Hands sockets over.
pub(crate) fn hand_over(through: &UnixStream, sockets: &[&UnixStream]) -> io::Result<()> {
    let descriptors: Vec<_> = sockets.iter().map(AsFd::as_fd).collect();
    let mut room = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(SOCKETS_MAX))];
    let mut attached = SendAncillaryBuffer::new(&mut room);
    if !descriptors.is_empty() && !attached.push(SendAncillaryMessage::ScmRights(&descriptors)) {
        return Err(io::Error::other("too many sockets"));
    }
    let count = [sockets.len() as u8];
    match sendmsg(through, &[IoSlice::new(&count)], &mut attached, SendFlags::empty())? {
        1 => Ok(()),
        _ => Err(io::ErrorKind::WriteZero.into()),
    }
}

/// Takes the sockets that are handed over.
pub(crate) fn take_over(through: &UnixStream) -> io::Result<Vec<UnixStream>> {
    let mut room = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(SOCKETS_MAX))];
    let mut attached = RecvAncillaryBuffer::new(&mut room);
    let mut count = [0];
    let received = loop {
        match recvmsg(through, &mut [IoSliceMut::new(&mut count)], &mut attached, RecvFlags::empty()) {
            Err(Errno::INTR) => {}
            received => break received?,
        }
    };
    let descriptors = attached.drain().flat_map(|message| match message {
        RecvAncillaryMessage::ScmRights(descriptors) => descriptors.collect::<Vec<OwnedFd>>(),
        _ => Vec::new(),
    });
    let sockets: Vec<UnixStream> = descriptors.map(UnixStream::from).collect();
    if received.bytes != 1 || sockets.len() != usize::from(count[0]) {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    Ok(sockets)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read, Write};

    #[test]
    fn a_socket_that_was_handed_over_leads_to_the_same_place() {
        let (one, other) = UnixStream::pair().expect("a pair");
        let mut mesh = mesh(3).expect("sockets");
        let sockets: Vec<UnixStream> = mesh.remove(1).into_iter().flatten().collect();
        hand_over(&one, &sockets.iter().collect::<Vec<_>>()).expect("handed over");
        drop(sockets);
        let mut taken = take_over(&other).expect("taken");
        assert_eq!(taken.len(), 2);
        taken[1].write_all(b"x").expect("sent");
        let mut byte = [0];
        let third = mesh[1][1].as_mut().expect("a socket to worker 1");
        third.read_exact(&mut byte).expect("received");
        assert_eq!(&byte, b"x");
    }
}
