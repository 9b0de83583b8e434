package main

// gRPC through its Go library, with messages encoded in advance. The requests of many workers share few connections, as
// in a client program.

import (
	"context"
	"errors"
	"io"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
)

const (
	grpcConnections = 4
	messageBytesMax = 64 << 20
)

// rawCodec passes bytes through; the content type says that they are protobuf.
type rawCodec struct{}

func (rawCodec) Name() string { return "proto" }

func (rawCodec) Marshal(value any) ([]byte, error) { return *value.(*[]byte), nil }

func (rawCodec) Unmarshal(data []byte, value any) error {
	into := value.(*[]byte)
	*into = append((*into)[:0], data...)
	return nil
}

func dialGRPC(asked *job) ([]*grpc.ClientConn, error) {
	connections := make([]*grpc.ClientConn, grpcConnections)
	for index := range connections {
		connection, err := grpc.NewClient("passthrough:///"+asked.Address,
			grpc.WithTransportCredentials(insecure.NewCredentials()),
			grpc.WithDefaultCallOptions(grpc.ForceCodec(rawCodec{}), grpc.MaxCallRecvMsgSize(messageBytesMax)))
		if err != nil {
			return nil, err
		}
		connections[index] = connection
	}
	return connections, nil
}

type grpcCaller struct {
	context    context.Context
	connection *grpc.ClientConn
	body       []byte
}

func newGRPCCaller(ctx context.Context, asked *job, connection *grpc.ClientConn) *grpcCaller {
	if asked.Key != "" {
		ctx = metadata.AppendToOutgoingContext(ctx, "authorization", "Bearer "+asked.Key)
	}
	return &grpcCaller{context: ctx, connection: connection}
}

// The connections are shared: the code that dialled them closes them.
func (c *grpcCaller) close() {}

// The answer is valid until the next call.
func (c *grpcCaller) do(request *call) (answer, error) {
	if request.stream != nil || request.streamsAnswer {
		return c.doStream(request)
	}
	err := c.connection.Invoke(c.context, request.path, &request.body, &c.body)
	return answer{messages: [][]byte{c.body}}, err
}

func (c *grpcCaller) doStream(request *call) (answer, error) {
	ctx, cancel := context.WithCancel(c.context)
	defer cancel()
	description := &grpc.StreamDesc{ClientStreams: request.stream != nil, ServerStreams: request.streamsAnswer}
	stream, err := c.connection.NewStream(ctx, description, request.path)
	if err != nil {
		return answer{}, err
	}
	messages := request.stream
	if messages == nil {
		messages = [][]byte{request.body}
	}
	for index := range messages {
		// If the stream has ended here, the reply below says why.
		if err := stream.SendMsg(&messages[index]); err != nil && !errors.Is(err, io.EOF) {
			return answer{}, err
		}
	}
	if err := stream.CloseSend(); err != nil {
		return answer{}, err
	}
	var found answer
	for {
		var message []byte
		err := stream.RecvMsg(&message)
		if errors.Is(err, io.EOF) {
			return found, nil
		}
		if err != nil {
			return answer{}, err
		}
		found.messages = append(found.messages, message)
		if !request.streamsAnswer {
			return found, nil
		}
	}
}
